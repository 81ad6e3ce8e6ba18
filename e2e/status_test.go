//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	live "github.com/helm-checksum/helm-checksum/internal/cluster"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// readerDeployment is a Deployment whose container reads a whole ConfigMap or Secret (ref is
// configMapRef or secretRef) of the Deployment's name into its environment.
func readerDeployment(name, ref string) string {
	return deploymentOf(name, 1, fmt.Sprintf("containers: [{name: app, image: app, envFrom: [{%s: {name: %s}}]}]", ref, name), "")
}

// deploymentOf returns a Deployment with a pod spec in flow style and further fields of its own.
func deploymentOf(name string, replicas int, spec, fields string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, annotations: {meta.helm.sh/release-name: %[1]s}}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  %[4]s
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {%[3]s}
`, name, replicas, spec, fields)
}

// chartConfigMap is a ConfigMap as most charts make it: with a label of the chart's version.
func chartConfigMap(name, chart, level string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {helm.sh/chart: %s}}\ndata: {LEVEL: %s, OTHER: x}\n", name, chart, level)
}

// chartSecret is a Secret as a chart makes it.
func chartSecret(name, chart, password string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, labels: {helm.sh/chart: %s}}\nstringData: {PASSWORD: %s}\n", name, chart, password)
}

// applyRelease applies documents as Helm 4 does, through the post-renderer when asked to.
func applyRelease(t *testing.T, namespace string, options *renderer.Options, documents ...string) {
	t.Helper()
	stream := []byte(strings.Join(documents, "---\n"))
	if options != nil {
		r, err := renderer.New(*options)
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Run(bytes.NewBuffer(stream))
		if err != nil {
			t.Fatal(err)
		}
		stream = out.Bytes()
	}
	for _, document := range strings.Split(string(stream), "---\n") {
		apply(t, namespace, document)
	}
}

// kubectlPatch changes one key as someone with kubectl does.
func kubectlPatch(t *testing.T, namespace, kind, name, key, value string) {
	t.Helper()
	field := "data"
	if kind == "secret" {
		field = "stringData"
	}
	command(t, "", cluster.Kubectl, "--kubeconfig", cluster.Kubeconfig, "-n", namespace,
		"patch", kind, name, "--type=merge", "-p", fmt.Sprintf(`{%q:{%q:%q}}`, field, key, value))
}

// waitForPods waits until the Deployments of a namespace have as many running pods as
// they ask for, then until the second is over, so that what follows is later than their start.
func waitForPods(t *testing.T, namespace string, pods int) {
	t.Helper()
	eventually(t, func() string {
		list, err := clients().typed.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		running := 0
		for _, p := range list.Items {
			if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != pods || len(list.Items) != pods {
			return fmt.Sprintf("%d pods of %d run, %d are wanted", running, len(list.Items), pods)
		}
		return ""
	})
	nextSecond()
}

func deletePods(t *testing.T, namespace, app string) {
	t.Helper()
	err := clients().typed.CoreV1().Pods(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=" + app})
	if err != nil {
		t.Fatal(err)
	}
}

func statusOf(t *testing.T, config *rest.Config, o live.Options) *live.Report {
	t.Helper()
	c, err := live.New(config)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Status(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// statusLines are a report's items in short: state, pods in it of all, and what is shown beside.
func statusLines(r *live.Report) map[string]string {
	found := map[string]string{}
	for _, i := range r.Items {
		text := fmt.Sprintf("%s %d/%d", i.State, i.Pods.States[i.State], i.Pods.Total)
		if i.Live {
			text += " live"
		}
		if i.Mixed {
			text += " mixed"
		}
		found[i.Workload.Name+" "+strings.ToLower(i.Object.Kind)+"/"+i.Object.Name] = text
	}
	return found
}

func TestStatusTellsEveryStateApartInOneRun(t *testing.T) {
	ns := newNamespace(t, nil)
	plain, keyed := &renderer.Options{}, &renderer.Options{HMACKey: []byte("a key for this test")}
	oneKey := "containers: [{name: app, image: app, env: [{name: OTHER, valueFrom: {configMapKeyRef: {name: by-time, key: OTHER}}}]}]"
	volume := "containers: [{name: app, image: app, volumeMounts: [{name: config, mountPath: /etc/app}]}], volumes: [{name: config, configMap: {name: live}}]"
	subPath := "containers: [{name: app, image: app, volumeMounts: [{name: config, mountPath: /etc/app/LEVEL, subPath: LEVEL}]}], volumes: [{name: config, configMap: {name: live}}]"
	initial := "initContainers: [{name: setup, image: setup, envFrom: [{configMapRef: {name: by-init}}]}], containers: [{name: app, image: app}]"
	optional := "containers: [{name: app, image: app, envFrom: [{configMapRef: {name: absent, optional: true}}]}]"

	// The first release of everything.
	applyRelease(t, ns, nil, chartConfigMap("current", "c-1", "info"), readerDeployment("current", "configMapRef"))
	applyRelease(t, ns, plain, chartConfigMap("by-stamp", "c-1", "info"), readerDeployment("by-stamp", "configMapRef"))
	applyRelease(t, ns, nil, chartConfigMap("by-time", "c-1", "info"), readerDeployment("by-time", "configMapRef"), deploymentOf("other-key", 1, oneKey, ""))
	applyRelease(t, ns, nil, chartConfigMap("bumped", "c-1", "info"), readerDeployment("bumped", "configMapRef"))
	applyRelease(t, ns, plain, chartConfigMap("settled", "c-1", "info"), readerDeployment("settled", "configMapRef"))
	applyRelease(t, ns, plain, chartConfigMap("drifted", "c-1", "info"), readerDeployment("drifted", "configMapRef"))
	applyRelease(t, ns, plain, chartConfigMap("reverted", "c-1", "info"), readerDeployment("reverted", "configMapRef"))
	applyRelease(t, ns, plain, chartConfigMap("scaled", "c-1", "info"), readerDeployment("scaled", "configMapRef"))
	// A rollout that stays in the middle: new pods are never available, old ones stay.
	rolling := deploymentOf("rolling", 2, "containers: [{name: app, image: app, envFrom: [{configMapRef: {name: rolling}}]}]",
		"minReadySeconds: 3600\n  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n  progressDeadlineSeconds: 7200")
	applyRelease(t, ns, plain, chartConfigMap("rolling", "c-1", "info"), rolling)
	applyRelease(t, ns, nil, chartConfigMap("live", "c-1", "info"), deploymentOf("live", 1, volume, ""), deploymentOf("fixed", 1, subPath, ""))
	applyRelease(t, ns, nil, chartConfigMap("by-init", "c-1", "info"), deploymentOf("by-init", 1, initial, ""))
	applyRelease(t, ns, nil, readerDeployment("missing", "configMapRef"), deploymentOf("absent", 1, optional, ""))
	applyRelease(t, ns, keyed, chartSecret("keyed", "c-1", "one"), readerDeployment("keyed", "secretRef"))
	applyRelease(t, ns, nil, chartSecret("rotated", "c-1", "one"), readerDeployment("rotated", "secretRef"))
	waitForPods(t, ns, 18)

	before := statusOf(t, cluster.Config, live.Options{Namespaces: []string{ns}})
	for _, i := range before.Items {
		if i.State != live.Current && i.State != live.Missing && i.Object.Name != "keyed" {
			t.Errorf("before any change %s %s is %s: %s", i.Workload.Name, i.Object.Name, i.State, i.Reason)
		}
	}

	// What happens to it.
	applyRelease(t, ns, nil, chartConfigMap("by-stamp", "c-2", "debug")) // without its workload, as when a rollout waits
	kubectlPatch(t, ns, "configmap", "by-time", "LEVEL", "debug")
	applyRelease(t, ns, nil, chartConfigMap("bumped", "c-2", "info"))
	applyRelease(t, ns, nil, chartConfigMap("settled", "c-2", "info"))
	kubectlPatch(t, ns, "configmap", "drifted", "LEVEL", "debug")
	kubectlPatch(t, ns, "configmap", "reverted", "LEVEL", "debug")
	kubectlPatch(t, ns, "configmap", "scaled", "LEVEL", "debug")
	kubectlPatch(t, ns, "configmap", "live", "LEVEL", "debug")
	kubectlPatch(t, ns, "configmap", "by-init", "LEVEL", "debug")
	kubectlPatch(t, ns, "secret", "rotated", "PASSWORD", "two")
	nextSecond()
	kubectlPatch(t, ns, "configmap", "reverted", "LEVEL", "info")
	deletePods(t, ns, "drifted")
	command(t, "", cluster.Kubectl, "--kubeconfig", cluster.Kubeconfig, "-n", ns, "scale", "deployment", "scaled", "--replicas=2")
	applyRelease(t, ns, plain, chartConfigMap("rolling", "c-2", "debug"), rolling)
	// New pods in the same second as the change could not be told from old ones by time alone.
	waitForPods(t, ns, 20)

	r := statusOf(t, cluster.Config, live.Options{Namespaces: []string{ns}})
	want := map[string]string{
		"current configmap/current":   "current 1/1",
		"by-stamp configmap/by-stamp": "stale 1/1",
		"by-time configmap/by-time":   "stale 1/1",
		"other-key configmap/by-time": "current 1/1",
		"bumped configmap/bumped":     "maybe-stale 1/1",
		"settled configmap/settled":   "current 1/1",
		"drifted configmap/drifted":   "drifted 1/1",
		"reverted configmap/reverted": "stale 1/1",
		"scaled configmap/scaled":     "stale 1/2 mixed",
		"rolling configmap/rolling":   "stale 2/3 mixed",
		"live configmap/live":         "stale 1/1 live",
		"fixed configmap/live":        "stale 1/1",
		"by-init configmap/by-init":   "stale 1/1",
		"missing configmap/missing":   "missing 1/1",
		"absent configmap/absent":     "current 1/1",
		"keyed secret/keyed":          "unknown 1/1",
		"rotated secret/rotated":      "stale 1/1",
	}
	if d := cmp.Diff(want, statusLines(r)); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
		var table strings.Builder
		if err := r.WriteTable(&table); err == nil {
			t.Log(table.String())
		}
	}
	if !r.Difference(false) || len(r.Unread) > 0 || len(r.Problems) > 0 {
		t.Errorf("difference %v, unread %v, problems %v", r.Difference(false), r.Unread, r.Problems)
	}

	t.Run("with the key", func(t *testing.T) {
		r := statusOf(t, cluster.Config, live.Options{Namespaces: []string{ns}, Release: "keyed", HMACKey: keyed.HMACKey})
		if d := cmp.Diff(map[string]string{"keyed secret/keyed": "current 1/1"}, statusLines(r)); d != "" {
			t.Errorf("status (-want +got):\n%s", d)
		}
	})
	t.Run("without a right to read Secrets", func(t *testing.T) {
		config := statusViewer(t, ns, func(rule rbacv1.PolicyRule) bool { return rule.Resources[0] != "secrets" })
		r := statusOf(t, config, live.Options{Namespaces: []string{ns}})
		got := statusLines(r)
		for key, state := range want {
			if strings.Contains(key, "secret/") {
				state = "unknown 1/1"
			}
			if got[key] != state {
				t.Errorf("%s is %q, want %q", key, got[key], state)
			}
		}
		if len(r.Unread) != 1 || r.Unread[0].Resource != "secrets" {
			t.Errorf("unread = %v, want the Secrets", r.Unread)
		}
	})
	t.Run("with the rights of the ClusterRole", func(t *testing.T) {
		r := statusOf(t, statusViewer(t, ns, func(rbacv1.PolicyRule) bool { return true }), live.Options{Namespaces: []string{ns}})
		if d := cmp.Diff(want, statusLines(r)); d != "" || len(r.Unread) > 0 {
			t.Errorf("status (-want +got):\n%s\nunread: %v", d, r.Unread)
		}
	})
	t.Run("without any right", func(t *testing.T) {
		config := rest.CopyConfig(cluster.Config)
		config.Impersonate.UserName = "nobody"
		c, err := live.New(config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Status(t.Context(), live.Options{Namespaces: []string{ns}})
		if err == nil || !strings.Contains(err.Error(), "listing ") || !strings.Contains(err.Error(), `User "nobody" cannot list resource`) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error = %v, want one line", err)
		}
	})
}

// statusViewer returns a connection with the rules of deploy/status-clusterrole.yaml that keep chooses, in one namespace.
func statusViewer(t *testing.T, namespace string, keep func(rbacv1.PolicyRule) bool) *rest.Config {
	t.Helper()
	text, err := os.ReadFile("../deploy/status-clusterrole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	if err := yaml.UnmarshalStrict(text, role); err != nil {
		t.Fatal(err)
	}
	limited := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "viewer-"}}
	for _, rule := range role.Rules {
		if keep(rule) {
			limited.Rules = append(limited.Rules, rule)
		}
	}
	rbac := clients().typed.RbacV1()
	limited, err = rbac.Roles(namespace).Create(t.Context(), limited, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = rbac.RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: limited.Name},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: limited.Name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: limited.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate.UserName = limited.Name
	// The API server's authorizer hears of the binding a moment later.
	eventually(t, func() string {
		c, err := live.New(config)
		if err != nil {
			return err.Error()
		}
		if _, err := c.Status(t.Context(), live.Options{Namespaces: []string{namespace}}); err != nil {
			return err.Error()
		}
		return ""
	})
	return config
}
