//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helm-checksum/helm-checksum/internal/controlplane"
)

// A helm is a major version of Helm and the way it is told of a post-renderer.
type helm struct {
	name string
	// env names a variable with the path of a binary to use instead of building one.
	env, pkg string
	// postRenderer prepares the product as a post-renderer and returns Helm's arguments for it.
	postRenderer func(t *testing.T, h *helmEnvironment, binary string) []string
}

var helm3 = helm{"helm3", "HELM3", "helm.sh/helm/v3/cmd/helm", func(_ *testing.T, _ *helmEnvironment, binary string) []string {
	return []string{"--post-renderer", binary}
}}

// Helm 4 takes plugins only.
var helm4 = helm{"helm4", "HELM4", "helm.sh/helm/v4/cmd/helm", func(t *testing.T, h *helmEnvironment, binary string) []string {
	dir := filepath.Join(h.dir, "plugins", "checksum")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf("apiVersion: v1\ntype: postrenderer/v1\nname: checksum\nversion: 0.1.0\nruntime: subprocess\nruntimeConfig: {platformCommand: [{command: %q}]}\n", binary)
	if err := os.WriteFile(filepath.Join(dir, "plugin.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"--post-renderer", "checksum"}
}}

// binary returns the path of Helm, built from the module tools unless the environment names one.
func (h helm) binary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv(h.env); path != "" {
		return path
	}
	path, err := controlplane.BuildTool(t.Context(), h.name, h.pkg)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A helmEnvironment is Helm with nothing of the user's, for one namespace.
type helmEnvironment struct {
	t         *testing.T
	binary    string
	dir       string
	namespace string
}

func newHelm(t *testing.T, h helm, namespace string) *helmEnvironment {
	e := &helmEnvironment{t: t, binary: h.binary(t), dir: t.TempDir(), namespace: namespace}
	for _, name := range []string{"CACHE_HOME", "CONFIG_HOME", "DATA_HOME"} {
		t.Setenv("HELM_"+name, filepath.Join(e.dir, strings.ToLower(name)))
	}
	t.Setenv("HELM_PLUGINS", filepath.Join(e.dir, "plugins"))
	return e
}

func (e *helmEnvironment) run(args ...string) string {
	e.t.Helper()
	return command(e.t, "", e.binary, append(args, "--namespace", e.namespace)...)
}

// product is the path of helm-checksum, built once from this tree.
var product = sync.OnceValues(func() (string, error) {
	path := filepath.Join(cluster.Dir, "helm-checksum")
	return path, controlplane.Run(context.Background(), "..", "go", "build", "-o", path, "./cmd/helm-checksum")
})

const (
	chart   = "testdata/chart"
	release = "shop"
)

// pods returns the UIDs of a workload's pods, by its label app, once its rollout is done.
func pods(t *testing.T, namespace, workload string) []string {
	t.Helper()
	kind, name, _ := strings.Cut(workload, "/")
	var uids []string
	eventually(t, func() string {
		if amiss := unfinished(read(t, namespace, "apps/v1", kind, name)); amiss != "" {
			return workload + ": " + amiss
		}
		list, err := clients().typed.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
		if err != nil {
			return err.Error()
		}
		uids = nil
		for _, p := range list.Items {
			if p.DeletionTimestamp != nil {
				return workload + " still has a pod that is going away"
			}
			uids = append(uids, string(p.UID))
		}
		if len(uids) == 0 {
			return workload + " has no pods"
		}
		return ""
	})
	return uids
}

// unfinished says what a workload's rollout still waits for, as kubectl rollout status
// would; empty when it is done.
func unfinished(o *unstructured.Unstructured) string {
	number := func(path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(o.Object, path...)
		return n
	}
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(o.Object, path...)
		return s
	}
	wanted, updated, ready := number("spec", "replicas"), number("status", "updatedReplicas"), number("status", "readyReplicas")
	if o.GetKind() == "DaemonSet" {
		wanted, updated, ready = number("status", "desiredNumberScheduled"), number("status", "updatedNumberScheduled"), number("status", "numberReady")
	}
	switch {
	case number("status", "observedGeneration") < o.GetGeneration():
		return "its controller has not seen the change"
	case updated < wanted || ready < wanted:
		return fmt.Sprintf("%d of %d pods are updated, %d ready", updated, wanted, ready)
	case number("status", "replicas") > updated && o.GetKind() == "Deployment":
		return "old pods are still there"
	case text("status", "currentRevision") != text("status", "updateRevision"):
		return "the rollout is not complete"
	}
	return ""
}

// The chart's workloads that have pods all the time.
var workloads = []string{"Deployment/web", "Deployment/other", "StatefulSet/database", "DaemonSet/agent", "Deployment/remote"}

// allPods returns the pods of each of the chart's workloads.
func allPods(t *testing.T, namespace string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, w := range workloads {
		out[w] = pods(t, namespace, w)
	}
	return out
}

// rolled returns which of the chart's workloads got new pods in step.
func rolled(t *testing.T, namespace string, step func()) []string {
	t.Helper()
	before := allPods(t, namespace)
	step()
	after := allPods(t, namespace)
	out := []string{}
	for _, w := range workloads {
		kept := 0
		for _, uid := range after[w] {
			if slices.Contains(before[w], uid) {
				kept++
			}
		}
		switch kept {
		case len(before[w]):
		case 0:
			out = append(out, w)
		default:
			t.Errorf("%s kept %d of %d pods", w, kept, len(before[w]))
		}
	}
	return out
}

func read(t *testing.T, namespace, apiVersion, kind, name string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return get(t, o)
}

func replicaSets(t *testing.T, namespace, name string) int {
	t.Helper()
	list, err := clients().typed.AppsV1().ReplicaSets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + name})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestHelmUpgradeRollsExactlyTheConsumers(t *testing.T) {
	binary, err := product()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []helm{helm3, helm4} {
		t.Run(version.name, func(t *testing.T) {
			ns, elsewhere := newNamespace(t, nil), newNamespace(t, nil)
			h := newHelm(t, version, ns)
			common := append(version.postRenderer(t, h, binary), "--set", "elsewhere="+elsewhere)
			upgrade := func(set ...string) func() {
				return func() {
					args := append([]string{"upgrade", release, chart}, common...)
					for _, s := range set {
						args = append(args, "--set", s)
					}
					h.run(args...)
				}
			}
			h.run(append([]string{"install", release, chart}, common...)...)
			first := templateAnnotations(t, read(t, ns, "apps/v1", "Deployment", "web"))
			if first["helm-checksum/configmap.web-config"] == "" {
				t.Fatalf("web is not stamped: %v", first)
			}
			migration := read(t, ns, "batch/v1", "Job", "migration").GetUID()

			for _, step := range []struct {
				name string
				do   func()
				want []string
			}{
				{"the same again", upgrade(), []string{}},
				{"one key", upgrade("level=debug"), []string{"Deployment/web", "DaemonSet/agent"}},
				{"the same again, changed", upgrade("level=debug"), []string{}},
				{"a key that no one reads", upgrade("level=debug", "unused=2"), []string{}},
				{"labels", upgrade("level=debug", "unused=2", "label=2"), []string{}},
				{"the Secret", upgrade("level=debug", "unused=2", "label=2", "password=two"), []string{"StatefulSet/database"}},
				{"a ConfigMap in another namespace", upgrade("level=debug", "unused=2", "label=2", "password=two", "shared=2"), []string{"Deployment/remote"}},
				{"a hook's ConfigMap", upgrade("level=debug", "unused=2", "label=2", "password=two", "shared=2", "hook=2"), []string{}},
				{"rollback", func() { h.run("rollback", release, "1") }, workloadsBut("Deployment/other")},
			} {
				if d := cmp.Diff(step.want, rolled(t, ns, step.do)); d != "" {
					t.Fatalf("%s: rolled (-want +got):\n%s", step.name, d)
				}
			}

			after := templateAnnotations(t, read(t, ns, "apps/v1", "Deployment", "web"))
			if d := cmp.Diff(first, after); d != "" {
				t.Errorf("rollback did not bring the old stamps (-first +now):\n%s", d)
			}
			if n := replicaSets(t, ns, "web"); n != 2 {
				t.Errorf("web has %d ReplicaSets, want 2: the old one that a rollback takes up again, and the other", n)
			}
			if got := read(t, ns, "batch/v1", "Job", "migration").GetUID(); got != migration {
				t.Error("the Job was made anew")
			}
			if stamps := templateAnnotations(t, read(t, ns, "batch/v1", "Job", "migration")); len(stamps) > 0 {
				t.Errorf("the Job's pod template has annotations %v", stamps)
			}
		})
	}
}

func workloadsBut(not string) []string {
	var out []string
	for _, w := range workloads {
		if w != not {
			out = append(out, w)
		}
	}
	return out
}
