//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// stampsOf says which objects a template is stamped for by the policy.
func stampsOf(annotations map[string]string) string {
	var out []string
	for _, kind := range []string{"configmap", "secret"} {
		for k := range annotations {
			if name, ok := strings.CutPrefix(k, "helm-checksum/"+kind+"-version."); ok {
				out = append(out, kind+"/"+name)
			}
		}
	}
	return strings.Join(out, " ")
}

var both = part{container: "envFrom: [{configMapRef: {name: config}}, {secretRef: {name: config}}]"}

// newConfigs makes a ConfigMap and a Secret called config in a new namespace, and waits
// until the policies see them if they act there.
func newConfigs(t *testing.T, labels map[string]string) (namespace string) {
	t.Helper()
	ns := newNamespace(t, labels)
	for _, manifest := range []string{configMap("config", "1"), secretObject("config", "1")} {
		if o := create(t, ns, manifest); labels != nil {
			settle(t, o)
		}
	}
	return ns
}

func TestPolicyActsOnlyWhereTheNamespaceIsLabelled(t *testing.T) {
	usePolicy(t, policy.Options{})
	labelled := newConfigs(t, policyLabel)
	unlabelled := newConfigs(t, nil)
	if got := stampsOf(templateAnnotations(t, create(t, labelled, deployment("x", both), "All"))); got != "configmap/config secret/config" {
		t.Errorf("labelled: stamped for %q", got)
	}
	if got := stampsOf(templateAnnotations(t, create(t, unlabelled, deployment("x", both), "All"))); got != "" {
		t.Errorf("not labelled: stamped for %q, want nothing", got)
	}

	// Labelled, kube-system is left alone all the same.
	system := parse(t, `{apiVersion: v1, kind: Namespace, metadata: {name: kube-system, labels: {helm-checksum/policy: enabled}}}`)
	apply(t, "", string(toJSON(t, system)))
	defer command(t, "", "kubectl", "label", "namespace", "kube-system", "helm-checksum/policy-")
	create(t, "kube-system", configMap("config", "1"))
	if got := stampsOf(templateAnnotations(t, create(t, "kube-system", deployment("x", both), "All"))); got != "" {
		t.Errorf("kube-system: stamped for %q, want nothing", got)
	}

	// Without its label, a namespace is switched off at once, and nothing rolls.
	before := create(t, labelled, deployment("x", both))
	command(t, "", "kubectl", "label", "namespace", labelled, "helm-checksum/policy-")
	command(t, "", "kubectl", "-n", labelled, "annotate", "configmap", "config", "a=b")
	eventually(t, func() string {
		if got := stampsOf(templateAnnotations(t, create(t, labelled, deployment("other", both), "All"))); got != "" {
			return "not labelled any more: stamped for " + got
		}
		return ""
	})
	after := apply(t, labelled, deployment("x", both))
	if d := cmp.Diff(templateAnnotations(t, before), templateAnnotations(t, after)); d != "" || after.GetGeneration() != before.GetGeneration() {
		t.Errorf("switching the policy off changed the pod template:\n%s", d)
	}
}

func TestPolicyOptionsDoWhatTheySay(t *testing.T) {
	defer usePolicy(t, policy.Options{})
	optedIn, optedInTemplate, stamped := both, both, both
	optedIn.own = `helm-checksum/stamp: "true"`
	optedInTemplate.annotations = `helm-checksum/stamp: "true"`
	stamped.annotations = "helm-checksum/configmap.config: abc"
	ns := newConfigs(t, nil)
	command(t, "", "kubectl", "label", "namespace", ns, "helm-checksum/policy=enabled", "team=web")
	command(t, "", "kubectl", "-n", ns, "label", "secret", "config", "owner=helm")
	for _, c := range []struct {
		name    string
		options policy.Options
		part    part
		want    string
	}{
		{"opt-in, not asked for", policy.Options{OptIn: true}, both, ""},
		{"opt-in, asked for", policy.Options{OptIn: true}, optedIn, "configmap/config secret/config"},
		{"opt-in, asked for on the pod template", policy.Options{OptIn: true}, optedInTemplate, "configmap/config secret/config"},
		{"also stamped", policy.Options{AlsoStamped: true}, stamped, "configmap/config secret/config"},
		{"not also stamped", policy.Options{}, stamped, "secret/config"},
		{"another namespace selector", policy.Options{NamespaceSelector: "team=web"}, both, "configmap/config secret/config"},
		{"a namespace selector for others", policy.Options{NamespaceSelector: "team in (shop)"}, both, ""},
		{"a config selector", policy.Options{ConfigSelector: "owner!=helm"}, both, "configmap/config"},
		{"failure policy Fail", policy.Options{FailurePolicy: policy.Fail}, both, "configmap/config secret/config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			usePolicy(t, c.options)
			if got := stampsOf(templateAnnotations(t, create(t, ns, deployment("x", c.part), "All"))); got != c.want {
				t.Errorf("stamped for %q, want %q", got, c.want)
			}
		})
	}
	t.Run("no Secrets", func(t *testing.T) {
		var b bytes.Buffer
		if err := policy.Write(&b, policy.Options{NoSecrets: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "kind: Secret") || strings.Count(b.String(), "kind: ConfigMap") != 1 {
			t.Errorf("want the policy for ConfigMaps only:\n%s", b.String())
		}
	})
}

func TestPolicyAppliedTwiceChangesNothing(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newConfigs(t, policyLabel)
	before := create(t, ns, deployment("x", both))
	versions := func() string {
		return command(t, "", "kubectl", "get", "mutatingadmissionpolicies,mutatingadmissionpolicybindings",
			"-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	}
	want := versions()
	usePolicy(t, policy.Options{})
	if d := cmp.Diff(want, versions()); d != "" {
		t.Errorf("policies changed:\n%s", d)
	}
	after := apply(t, ns, deployment("x", both))
	if d := cmp.Diff(before.Object["spec"], after.Object["spec"]); d != "" {
		t.Errorf("the workload changed:\n%s", d)
	}
}

// definition is a CustomResourceDefinition that keeps what it does not know.
func definition(group, version, kind, plural string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[4]s, singular: %[5]s}
  versions:
  - name: %[2]s
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`, group, version, kind, plural, strings.ToLower(kind))
}

func TestPolicyStampsCustomResourcesThatWereAskedFor(t *testing.T) {
	for _, d := range []string{
		definition("argoproj.io", "v1alpha1", "Rollout", "rollouts"),
		definition("apps.openshift.io", "v1", "DeploymentConfig", "deploymentconfigs"),
		definition("apps.kruise.io", "v1alpha1", "CloneSet", "clonesets"),
		definition("apps.kruise.io", "v1beta1", "StatefulSet", "statefulsets"),
		definition("apps.kruise.io", "v1alpha1", "DaemonSet", "daemonsets"),
		definition("serving.knative.dev", "v1", "Service", "services"),
		definition("serving.knative.dev", "v1", "Configuration", "configurations"),
		definition("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"),
		definition("example.com", "v1", "App", "apps"),
		definition("example.com", "v1", "Other", "others"),
	} {
		create(t, "", d)
	}
	defer usePolicy(t, policy.Options{})
	usePolicy(t, policy.Options{Kinds: policy.Families(), Workloads: []string{"example.com/App=spec.deeply.nested"}})
	ns := newConfigs(t, policyLabel)
	inner := strings.ReplaceAll(template(part{container: "envFrom: [{configMapRef: {name: config}}]"}), "\n", "\n      ")
	bare := "spec: {containers: [{name: app, envFrom: [{configMapRef: {name: config}}]}]}"
	const spec = "spec.template"
	for _, c := range []struct {
		name, apiVersion, kind, body, path string
		want                               string
	}{
		{"Rollout", "argoproj.io/v1alpha1", "Rollout", "  template:\n      " + inner, spec, "configmap/config"},
		{"Rollout without metadata in its template", "argoproj.io/v1alpha1", "Rollout", "  template: {" + bare + "}", spec, "configmap/config"},
		{"Rollout of a Deployment", "argoproj.io/v1alpha1", "Rollout", "  workloadRef: {name: x}", "", ""},
		{"DeploymentConfig", "apps.openshift.io/v1", "DeploymentConfig", "  template:\n      " + inner, spec, "configmap/config"},
		{"CloneSet", "apps.kruise.io/v1alpha1", "CloneSet", "  updateStrategy: {type: ReCreate}\n  template:\n      " + inner, spec, "configmap/config"},
		{"CloneSet in place", "apps.kruise.io/v1alpha1", "CloneSet", "  updateStrategy: {type: InPlaceIfPossible}\n  template:\n      " + inner, spec, ""},
		{"StatefulSet of Kruise", "apps.kruise.io/v1beta1", "StatefulSet", "  updateStrategy: {rollingUpdate: {podUpdatePolicy: ReCreate}}\n  template:\n      " + inner, spec, "configmap/config"},
		{"StatefulSet of Kruise in place", "apps.kruise.io/v1beta1", "StatefulSet", "  updateStrategy: {rollingUpdate: {podUpdatePolicy: InPlaceOnly}}\n  template:\n      " + inner, spec, ""},
		{"DaemonSet of Kruise", "apps.kruise.io/v1alpha1", "DaemonSet", "  template:\n      " + inner, spec, "configmap/config"},
		{"DaemonSet of Kruise in place", "apps.kruise.io/v1alpha1", "DaemonSet", "  updateStrategy: {rollingUpdate: {rollingUpdateType: InPlaceIfPossible}}\n  template:\n      " + inner, spec, ""},
		{"Service of Knative", "serving.knative.dev/v1", "Service", "  template:\n      " + inner, spec, "configmap/config"},
		{"Service of Knative with a fixed revision", "serving.knative.dev/v1", "Service", "  template: {metadata: {name: x-1}, " + bare + "}", spec, ""},
		{"Configuration of Knative", "serving.knative.dev/v1", "Configuration", "  template:\n      " + inner, spec, "configmap/config"},
		{"leader of a LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "  leaderWorkerTemplate:\n    leaderTemplate:\n      " + inner + "\n    workerTemplate: {spec: {containers: [{name: app}]}}", "spec.leaderWorkerTemplate.leaderTemplate", "configmap/config"},
		{"worker of a LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "  leaderWorkerTemplate:\n    workerTemplate:\n      " + inner, "spec.leaderWorkerTemplate.workerTemplate", "configmap/config"},
		{"another kind", "example.com/v1", "App", "  deeply:\n    nested:\n      " + inner, "spec.deeply.nested", "configmap/config"},
		{"another kind of its group", "example.com/v1", "Other", "  deeply:\n    nested:\n      " + inner, "spec.deeply.nested", ""},
		{"a built-in kind", "apps/v1", "Deployment", "  " + selector + "\n  template:\n      " + inner, spec, "configmap/config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := parse(t, fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: x}\nspec:\n%s\n", c.apiVersion, c.kind, c.body))
			// A new definition takes a moment to be served, and known to the policies.
			eventually(t, func() (amiss string) {
				out, err := resourceFor(t, ns, o).Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{"All"}})
				switch {
				case err != nil:
					return err.Error()
				case c.path == "" && strings.Contains(string(toJSON(t, out)), "-version."):
					t.Fatalf("stamped, want none: %s", toJSON(t, out))
				case c.path == "":
					return ""
				}
				if got := stampsOf(annotationsAt(t, out, strings.Split(c.path, ".")...)); got != c.want {
					return fmt.Sprintf("stamped for %q, want %q", got, c.want)
				}
				return ""
			})
		})
	}
}

func toJSON(t *testing.T, o *unstructured.Unstructured) []byte {
	t.Helper()
	b, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPolicyCheckOnARealCluster(t *testing.T) {
	var b bytes.Buffer
	if err := policy.Check(t.Context(), &b, cluster.Config, policy.Options{}); err != nil || !strings.Contains(b.String(), "can be applied") {
		t.Errorf("an administrator: got %q, error %v", b.String(), err)
	}
	nobody := rest.CopyConfig(cluster.Config)
	nobody.Impersonate.UserName = "nobody"
	err := policy.Check(t.Context(), &b, nobody, policy.Options{})
	if err == nil || !strings.Contains(err.Error(), "does not let you create mutatingadmissionpolicies, create mutatingadmissionpolicybindings, get configmaps, get secrets") {
		t.Errorf("someone without rights: got error %v", err)
	}
}
