//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	live "github.com/helm-checksum/helm-checksum/internal/cluster"
	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// A policy that was removed and applied again stamps old versions, silently
// (kubernetes/kubernetes#130887): status says so, and stops when it works again.
func TestStatusNoticesAFrozenPolicy(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newNamespace(t, policyLabel)
	config := apply(t, ns, chartConfigMap("web", "c-1", "info"))
	settle(t, config)
	// Each revision is another pod template, so that the workload is really written.
	revision := func(n int) string {
		return deploymentOf("web", 1, fmt.Sprintf("containers: [{name: app, image: 'app:%d', envFrom: [{configMapRef: {name: web}}]}]", n), "")
	}
	rollOut := func(n int) {
		apply(t, ns, revision(n))
		command(t, "", "kubectl", "-n", ns, "rollout", "status", "deployment/web", "--timeout="+patience.String())
		waitForPods(t, ns, 1)
	}
	look := func() *live.Report { return statusOf(t, cluster.Config, live.Options{Namespaces: []string{ns}}) }

	rollOut(1)
	apply(t, ns, chartConfigMap("web", "c-2", "info"))
	r := look()
	if d := cmp.Diff(map[string]string{"web configmap/web": "maybe-stale 1/1"}, statusLines(r)); d != "" || len(r.Notices) > 0 {
		t.Errorf("written after the workload (-want +got):\n%s\nnotices: %v", d, r.Notices)
	}
	settle(t, get(t, config))
	rollOut(1)
	r = look()
	if d := cmp.Diff(map[string]string{"web configmap/web": "current 1/1"}, statusLines(r)); d != "" || len(r.Notices) > 0 {
		t.Errorf("after the workload's next write (-want +got):\n%s\nnotices: %v", d, r.Notices)
	}

	command(t, "", "kubectl", "delete", "mutatingadmissionpolicybindings,mutatingadmissionpolicies", "--all")
	waitForPolicies(t)
	kubectlPatch(t, ns, "configmap", "web", "LEVEL", "debug")
	usePolicy(t, policy.Options{})
	time.Sleep(7 * time.Second) // status allows the API server some time to hear of a change itself
	rollOut(2)
	r = look()
	if d := cmp.Diff(map[string]string{"web configmap/web": "drifted 1/1"}, statusLines(r)); d != "" {
		t.Errorf("frozen (-want +got):\n%s", d)
	}
	if len(r.Notices) != 1 || !strings.Contains(r.Notices[0].Message, "the policy does not work") {
		t.Errorf("notices = %v, want one of a policy that does not work", r.Notices)
	}

	// The other tests need a server that is not frozen.
	if err := cluster.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	settle(t, get(t, config))
	rollOut(3)
	r = look()
	if d := cmp.Diff(map[string]string{"web configmap/web": "current 1/1"}, statusLines(r)); d != "" || len(r.Notices) > 0 {
		t.Errorf("after a restart of the API server (-want +got):\n%s\nnotices: %v", d, r.Notices)
	}
}
