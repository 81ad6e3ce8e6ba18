//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/helm-checksum/helm-checksum/internal/realhelm"
)

// A helmEnvironment is a real Helm with nothing of the user's, and this tool as its plugin,
// for one namespace.
type helmEnvironment struct {
	t         *testing.T
	binary    string
	namespace string
	// postRenderer is the argument that names this tool: Helm 3 takes programs, Helm 4 plugins.
	postRenderer string
}

// newHelm returns the Helm of a major version. Its plugin is installed as a user does it,
// from a release archive.
func newHelm(t *testing.T, major int, namespace string) *helmEnvironment {
	t.Helper()
	binary, err := realhelm.Path(major)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := product()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"CACHE_HOME", "CONFIG_HOME", "DATA_HOME"} {
		t.Setenv("HELM_"+name, filepath.Join(dir, strings.ToLower(name)))
	}
	t.Setenv("HELM_PLUGINS", filepath.Join(dir, "data_home", "plugins"))
	e := &helmEnvironment{t: t, binary: binary, namespace: namespace}
	e.run("plugin", "install", archive)
	if major == 3 {
		e.postRenderer = "--post-renderer=" + filepath.Join(archive, "bin", "helm-checksum")
		return e
	}
	e.postRenderer = "--post-renderer=helm-checksum"
	// The plugin's hook makes this link, unless it finds a Helm 3 on PATH that may use the same
	// directory, which this one's does not.
	link := filepath.Join(os.Getenv("HELM_PLUGINS"), "helm-checksum-postrenderer")
	if _, err := os.Lstat(link); os.IsNotExist(err) {
		if err := os.Symlink(filepath.Join("helm-checksum", "plugin", "postrenderer"), link); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func (e *helmEnvironment) run(args ...string) string {
	e.t.Helper()
	return command(e.t, "", e.binary, append(args, "--namespace", e.namespace)...)
}

// product is a folder that holds what a release archive does, built once from this tree.
var product = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(cluster.Dir, "helm-checksum")
	manifest, err := os.ReadFile("../plugin.yaml")
	if err != nil {
		return "", err
	}
	version := regexp.MustCompile(`(?m)^version: *(.+)$`).FindSubmatch(manifest)
	if version == nil {
		return "", errors.New("plugin.yaml has no version")
	}
	if err := os.CopyFS(filepath.Join(dir, "plugin"), os.DirFS("../plugin")); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin.yaml"), manifest, 0o644); err != nil {
		return "", err
	}
	_, err = started.run("", "go", "build", "-o", filepath.Join(dir, "bin")+string(filepath.Separator),
		"-ldflags", "-X github.com/helm-checksum/helm-checksum/internal/cli.version="+string(version[1]),
		"../cmd/helm-checksum", "../cmd/flux-checksum")
	return dir, err
})

// fluxChecksum is the path of the program.
func fluxChecksum(t *testing.T) string {
	t.Helper()
	dir, err := product()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "bin", "flux-checksum")
}

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
	for _, major := range []int{3, 4} {
		t.Run(fmt.Sprintf("Helm %d", major), func(t *testing.T) {
			ns, elsewhere := newNamespace(t, nil), newNamespace(t, nil)
			h := newHelm(t, major, ns)
			common := []string{h.postRenderer, "--set", "elsewhere=" + elsewhere}
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
