//go:build e2e

package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// Helm 4 applies server-side, so every workload is written in every upgrade.
func TestPolicyRollsInTheSameHelm4Upgrade(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns, elsewhere := newNamespace(t, policyLabel), newNamespace(t, nil)
	h := newHelm(t, 4, ns)
	upgrade := func(set string) func() {
		return func() { h.run("upgrade", release, chart, "--set", "elsewhere="+elsewhere, "--set", set) }
	}
	h.run("install", release, chart, "--set", "elsewhere="+elsewhere)
	for _, step := range []struct {
		name, set string
		want      []string
	}{
		// An object may reach the API server's copy after its first consumer was made: by now it has.
		{"the same again", "level=info", nil},
		{"the same again, settled", "level=info", []string{}},
		{"one key, the whole object counts", "level=debug", []string{"Deployment/web", "Deployment/other", "DaemonSet/agent"}},
		{"the same again, changed", "level=debug", []string{}},
	} {
		got := rolled(t, ns, upgrade(step.set))
		if step.want == nil {
			continue
		}
		if d := cmp.Diff(step.want, got); d != "" {
			t.Errorf("%s: rolled (-want +got):\n%s", step.name, d)
		}
	}
}

func TestPolicyAndPostRendererTogetherRollOnce(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns, elsewhere := newNamespace(t, policyLabel), newNamespace(t, nil)
	h := newHelm(t, 4, ns)
	common := []string{h.postRenderer, "--set", "elsewhere=" + elsewhere}
	h.run(append([]string{"install", release, chart}, common...)...)
	upgrade := func(set string) func() {
		return func() { h.run(append([]string{"upgrade", release, chart, "--set", set}, common...)...) }
	}
	for _, step := range []struct {
		set         string
		want        []string
		replicaSets int
	}{
		{"level=info", []string{}, 1},
		{"label=2", []string{}, 1}, // moves the resourceVersion only
		{"level=debug", []string{"Deployment/web", "DaemonSet/agent"}, 2},
		{"level=debug", []string{}, 2},
	} {
		if d := cmp.Diff(step.want, rolled(t, ns, upgrade(step.set))); d != "" {
			t.Errorf("%s: rolled (-want +got):\n%s", step.set, d)
		}
		if n := replicaSets(t, ns, "web"); n != step.replicaSets {
			t.Errorf("%s: web has %d ReplicaSets, want %d", step.set, n, step.replicaSets)
		}
	}
	if got := stampsOf(templateAnnotations(t, read(t, ns, "apps/v1", "Deployment", "web"))); got != "" {
		t.Errorf("web has stamps of both: the policy's for %s", got)
	}
}

func TestPolicyFollowsASecretThatSomeoneElseRotates(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newConfigs(t, policyLabel)
	manifest := deployment("x", both)
	first := apply(t, ns, manifest)
	if again := apply(t, ns, manifest); again.GetGeneration() != first.GetGeneration() {
		t.Error("applying the same again changed the pod template")
	}

	command(t, "", "kubectl", "-n", ns, "patch", "secret", "config", "--patch", `{"stringData": {"key": "2"}}`)
	rotated := read(t, ns, "v1", "Secret", "config")
	settle(t, rotated)
	if now := read(t, ns, "apps/v1", "Deployment", "x"); now.GetGeneration() != first.GetGeneration() {
		t.Error("the rotation alone changed the pod template: a policy acts when a workload is written")
	}
	next := apply(t, ns, manifest)
	if got := templateAnnotations(t, next)["helm-checksum/secret-version.config"]; got != rotated.GetResourceVersion() {
		t.Errorf("after the next apply the stamp is %q, want %q", got, rotated.GetResourceVersion())
	}
	if next.GetGeneration() != first.GetGeneration()+1 {
		t.Errorf("the pod template changed %d times, want once", next.GetGeneration()-first.GetGeneration())
	}
}

func TestPolicyLeavesChecksumStampsAloneWhenLabelsChange(t *testing.T) {
	usePolicy(t, policy.Options{})
	for name, c := range map[string]struct {
		annotations string
		rolls       bool
	}{
		"with a checksum stamp": {"helm-checksum/configmap.config: abc", false},
		"without one":           {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			ns := newConfigs(t, policyLabel)
			manifest := deployment("x", part{annotations: c.annotations, container: "envFrom: [{configMapRef: {name: config}}]"})
			first := apply(t, ns, manifest)
			command(t, "", "kubectl", "-n", ns, "label", "configmap", "config", "helm.sh/chart=shop-2")
			settle(t, read(t, ns, "v1", "ConfigMap", "config"))
			next := apply(t, ns, manifest)
			if rolls := next.GetGeneration() != first.GetGeneration(); rolls != c.rolls {
				t.Errorf("a change of labels changes the pod template: %v, want %v", rolls, c.rolls)
			}
		})
	}
}

// A client-side apply that changes nothing writes nothing, so the policy can't act.
func TestPolicyDoesNotSeeAClientSideApplyThatChangesNothing(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newConfigs(t, policyLabel)
	manifest := deployment("x", both)
	command(t, manifest, "kubectl", "-n", ns, "apply", "-f", "-")
	first := read(t, ns, "apps/v1", "Deployment", "x")
	settle(t, apply(t, ns, configMap("config", "2")))
	command(t, manifest, "kubectl", "-n", ns, "apply", "-f", "-")
	if now := read(t, ns, "apps/v1", "Deployment", "x"); now.GetGeneration() != first.GetGeneration() {
		t.Error("the workload was written: say so in docs/cluster.md")
	}
}
