//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// What "policy --uninstall" warns of (kubernetes/kubernetes#130887). When this fails because the
// ConfigMap's stamp is fresh, this version of the API server has the bug no more: change the
// warnings, in docs/cluster.md too.
func TestPolicyRemovedAndAppliedAgainIsFrozenUntilTheAPIServerRestarts(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newConfigs(t, policyLabel)
	manifest := deployment("x", both)
	first := apply(t, ns, manifest)
	old := templateAnnotations(t, first)
	if got := stampsOf(old); got != "configmap/config secret/config" {
		t.Fatalf("stamped for %q to begin with", got)
	}

	command(t, "", "kubectl", "delete", "mutatingadmissionpolicybindings,mutatingadmissionpolicies", "--all")
	waitForPolicies(t)
	removed := apply(t, ns, manifest)
	if d := cmp.Diff(old, templateAnnotations(t, removed)); d != "" || removed.GetGeneration() != first.GetGeneration() {
		t.Errorf("removing the policies rolls at the next apply:\n%s", d)
	}
	changed, rotated := apply(t, ns, configMap("config", "2")), apply(t, ns, secretObject("config", "2"))
	fresh := map[string]string{
		"helm-checksum/configmap-version.config": changed.GetResourceVersion(),
		"helm-checksum/secret-version.config":    rotated.GetResourceVersion(),
	}

	usePolicy(t, policy.Options{})
	settle(t, rotated)
	time.Sleep(2 * time.Second) // for the ConfigMap's copy, were it refreshed
	// The API server watches Secrets for itself, too, and does not stop doing so.
	want := map[string]string{
		"helm-checksum/configmap-version.config": old["helm-checksum/configmap-version.config"],
		"helm-checksum/secret-version.config":    fresh["helm-checksum/secret-version.config"],
	}
	if d := cmp.Diff(want, templateAnnotations(t, apply(t, ns, manifest))); d != "" {
		t.Errorf("applied again, the policies stamp (-frozen ConfigMap, fresh Secret +got; current are %v):\n%s", fresh, d)
	}
	// The other tests need a server that is not frozen, whatever this one has found.
	if err := cluster.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if d := cmp.Diff(fresh, templateAnnotations(t, apply(t, ns, manifest))); d != "" {
			return "after a restart of the API server the stamps are not the current versions:\n" + d
		}
		return ""
	})
}
