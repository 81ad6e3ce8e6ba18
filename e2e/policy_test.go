//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilrand "k8s.io/apimachinery/pkg/util/rand"

	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// usePolicy applies the policies for the given options and waits until the API server
// acts by them. Policies are never deleted between tests: see
// TestPolicyRemovedAndAppliedAgainIsFrozenUntilTheAPIServerRestarts.
func usePolicy(t *testing.T, o policy.Options) {
	t.Helper()
	var b bytes.Buffer
	if err := policy.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	command(t, b.String(), "kubectl", "apply", "--server-side", "--force-conflicts", "-f", "-")
	waitForPolicies(t)
}

// waitForPolicies waits until the API server acts by all policies and bindings that
// were written: it takes changes over once a second, in their order. So one more
// policy, that marks a canary, tells that those before it are in force.
func waitForPolicies(t *testing.T) {
	t.Helper()
	name := "e2e-canary-" + utilrand.String(8)
	canary := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [serviceaccounts], resourceNames: [%[1]s]}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {"seen": "yes"}}]'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`, name)
	command(t, canary, "kubectl", "create", "-f", "-")
	eventually(t, func() string {
		o := create(t, "default", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: "+name+"}", "All")
		if o.GetLabels()["seen"] == "" {
			return "the API server did not take the policies over"
		}
		return ""
	})
	command(t, canary, "kubectl", "delete", "-f", "-")
}

// settle waits until the API server's policies see an object as it is now. They look at
// a copy that it keeps, which follows a moment later.
func settle(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	eventually(t, func() string {
		consumer := deployment("settle", reference(o.GetKind(), o.GetName()))
		for _, version := range templateAnnotations(t, create(t, o.GetNamespace(), consumer, "All")) {
			if version == o.GetResourceVersion() {
				return ""
			}
		}
		return "the policies do not see " + o.GetKind() + " " + o.GetName() + " as it is"
	})
}

// A part is a piece of a pod template, in YAML: of its container, of its init container,
// of its volumes and of its annotations; or of the workload's own annotations.
type part struct {
	container, initContainer, volumes, annotations, own string
}

// reference is how most workloads consume an object.
func reference(kind, name string) part {
	field := map[string]string{"ConfigMap": "configMapRef", "Secret": "secretRef"}[kind]
	return part{container: fmt.Sprintf("envFrom: [{%s: {name: %s}}]", field, name)}
}

// template is a pod template with the parts in it.
func template(p part) string {
	out := "metadata: {labels: {app: x}, annotations: {" + p.annotations + "}}\n"
	if p.annotations == "" {
		out = "metadata: {labels: {app: x}}\n"
	}
	out += "spec:\n  containers:\n  - name: app\n    image: app\n"
	if p.container != "" {
		out += "    " + p.container + "\n"
	}
	if p.initContainer != "" {
		out += "  initContainers:\n  - name: init\n    image: init\n    " + p.initContainer + "\n"
	}
	if p.volumes != "" {
		out += "  volumes: [" + p.volumes + "]\n"
	}
	return out
}

// workload is a manifest of a kind with its pod template at spec.template.
func workload(apiVersion, kind, name, spec string, p part) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, annotations: {%s}}\nspec:\n%s  template:\n    %s\n",
		apiVersion, kind, name, p.own, indent(2, spec), strings.ReplaceAll(template(p), "\n", "\n    "))
}

func indent(columns int, s string) string {
	if s == "" {
		return ""
	}
	return strings.Repeat(" ", columns) + strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", columns)) + "\n"
}

const selector = "selector: {matchLabels: {app: x}}"

func deployment(name string, p part) string {
	return workload("apps/v1", "Deployment", name, selector+"\nreplicas: 1", p)
}

// The places are those of CONTRACT.md section 2 that name an object called "config".
var places = []struct {
	name, kind string
	part       part
}{
	{"env of a container", "ConfigMap", part{container: "env: [{name: A, valueFrom: {configMapKeyRef: {name: config, key: key}}}]"}},
	{"envFrom of a container", "ConfigMap", part{container: "envFrom: [{configMapRef: {name: config}}]"}},
	{"env of an init container", "ConfigMap", part{initContainer: "env: [{name: A, valueFrom: {configMapKeyRef: {name: config, key: key}}}]"}},
	{"envFrom of an init container", "ConfigMap", part{initContainer: "envFrom: [{configMapRef: {name: config}}]"}},
	{"volume", "ConfigMap", part{volumes: "{name: v, configMap: {name: config}}"}},
	{"projected volume", "ConfigMap", part{volumes: "{name: v, projected: {sources: [{serviceAccountToken: {path: t}}, {configMap: {name: config}}]}}"}},
	{"consumes", "ConfigMap", part{own: `helm-checksum/consumes: "secret/other, configmap/config"`}},
	{"consumes on the pod template", "ConfigMap", part{annotations: `helm-checksum/consumes: configmap/config`}},
	{"among many", "ConfigMap", part{
		container: "env: [{name: A, value: a}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: C, valueFrom: {configMapKeyRef: {name: config, key: key}}}]",
		volumes:   "{name: e, emptyDir: {}}, {name: s, secret: {secretName: other}}"}},
	{"beside two variables of one name", "ConfigMap", part{
		container: "env: [{name: A, value: a}, {name: A, value: b}, {name: C, valueFrom: {configMapKeyRef: {name: config, key: key}}}]"}},

	{"env of a container", "Secret", part{container: "env: [{name: A, valueFrom: {secretKeyRef: {name: config, key: key}}}]"}},
	{"envFrom of a container", "Secret", part{container: "envFrom: [{secretRef: {name: config}}]"}},
	{"env of an init container", "Secret", part{initContainer: "env: [{name: A, valueFrom: {secretKeyRef: {name: config, key: key}}}]"}},
	{"envFrom of an init container", "Secret", part{initContainer: "envFrom: [{secretRef: {name: config}}]"}},
	{"volume", "Secret", part{volumes: "{name: v, secret: {secretName: config}}"}},
	{"projected volume", "Secret", part{volumes: "{name: v, projected: {sources: [{secret: {name: config}}]}}"}},
	{"csi volume", "Secret", part{volumes: "{name: v, csi: {driver: d, nodePublishSecretRef: {name: config}}}"}},
	{"azureFile volume", "Secret", part{volumes: "{name: v, azureFile: {shareName: s, secretName: config}}"}},
	{"cephfs volume", "Secret", part{volumes: "{name: v, cephfs: {monitors: [m], secretRef: {name: config}}}"}},
	{"cinder volume", "Secret", part{volumes: "{name: v, cinder: {volumeID: vol, secretRef: {name: config}}}"}},
	{"flexVolume volume", "Secret", part{volumes: "{name: v, flexVolume: {driver: a/b, secretRef: {name: config}}}"}},
	{"iscsi volume", "Secret", part{volumes: "{name: v, iscsi: {targetPortal: p, iqn: iqn.2026-01.org.example:a, lun: 0, secretRef: {name: config}}}"}},
	{"rbd volume", "Secret", part{volumes: "{name: v, rbd: {monitors: [m], image: img, secretRef: {name: config}}}"}},
	{"scaleIO volume", "Secret", part{volumes: "{name: v, scaleIO: {gateway: g, system: s, volumeName: vol, secretRef: {name: config}}}"}},
	{"storageos volume", "Secret", part{volumes: "{name: v, storageos: {volumeName: vol, secretRef: {name: config}}}"}},
	{"consumes", "Secret", part{own: `helm-checksum/consumes: secret/config`}},
}

var builtinKinds = []struct{ kind, spec string }{
	{"Deployment", selector + "\nreplicas: 0"},
	{"StatefulSet", selector + "\nreplicas: 0\nserviceName: x"},
	{"DaemonSet", selector},
}

func TestPolicyStampsEveryKindForEveryReference(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newNamespace(t, policyLabel)
	objects := map[string]*unstructured.Unstructured{
		"ConfigMap": create(t, ns, configMap("config", "1")),
		"Secret":    create(t, ns, secretObject("config", "1")),
	}
	// Objects that no one names must not be stamped for.
	create(t, ns, configMap("unused", "1"))
	create(t, ns, secretObject("unused", "1"))
	settle(t, objects["ConfigMap"])
	settle(t, objects["Secret"])
	for _, k := range builtinKinds {
		for i, p := range places {
			t.Run(k.kind+"/"+p.kind+"/"+p.name, func(t *testing.T) {
				o := create(t, ns, workload("apps/v1", k.kind, fmt.Sprintf("w%d", i), k.spec, p.part))
				want := map[string]string{
					"helm-checksum/" + strings.ToLower(p.kind) + "-version.config": objects[p.kind].GetResourceVersion(),
				}
				got := templateAnnotations(t, o)
				delete(got, "helm-checksum/consumes")
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("annotations of the pod template (-want +got):\n%s", d)
				}
			})
		}
	}
}

// The API server limits what an expression may cost; a workload as large as it takes must not
// reach the limit.
func TestPolicyStampsAVeryLargeWorkload(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newConfigs(t, policyLabel)
	var env strings.Builder
	for i := range 12000 {
		fmt.Fprintf(&env, "{name: V%d, valueFrom: {secretKeyRef: {name: another-secret, key: key}}}, ", i)
	}
	manifest := deployment("x", part{container: "env: [" + env.String() + "{name: LAST, valueFrom: {configMapKeyRef: {name: config, key: key}}}]"})
	if got := stampsOf(templateAnnotations(t, create(t, ns, manifest, "All"))); got != "configmap/config" {
		t.Errorf("a workload of %d bytes is stamped for %q, want configmap/config", len(manifest), got)
	}
}

func TestPolicyFollowsTheControls(t *testing.T) {
	usePolicy(t, policy.Options{})
	ns := newNamespace(t, policyLabel)
	const (
		long = "a-name-of-more-than-forty-five-characters-in-all-0" // 50
		huge = "a-name-of-more-than-sixty-three-characters-so-that-its-checksum-key-is-cut.x"
	)
	var last *unstructured.Unstructured
	versions, uids := map[string]string{}, map[string]string{}
	for _, manifest := range []string{
		configMap("config", "1"), configMap("flags", "1"), configMap("tls-a", "1"), configMap("tlsxa", "1"),
		configMap("dotted.name", "1"), configMap("dottedxname", "1"), configMap(long, "1"), configMap(huge, "1"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: reloaded, annotations: {helm-checksum/skip: \"true\"}}",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: not-reloaded, annotations: {helm-checksum/skip: \"false\"}}",
		configMap("last", "1"),
	} {
		last = create(t, ns, manifest)
		versions[last.GetName()], uids[last.GetName()] = last.GetResourceVersion(), string(last.GetUID())
	}
	settle(t, last)
	volumes := func(names ...string) string {
		var out []string
		for i, n := range names {
			out = append(out, fmt.Sprintf("{name: v%d, configMap: {name: %s}}", i, n))
		}
		return strings.Join(out, ", ")
	}
	// inKey is an object's name as it is in the stamp's key.
	inKey := func(name string) string {
		if len(name) > 45 {
			return name[:8] + "-" + uids[name]
		}
		return name
	}
	for _, c := range []struct {
		name string
		part part
		want []string // objects that are stamped for
	}{
		{"skip on the workload", part{own: `helm-checksum/skip: "true"`, volumes: volumes("config")}, nil},
		{"skip on the pod template", part{annotations: `helm-checksum/skip: "true"`, volumes: volumes("config")}, nil},
		{"skip: false", part{own: `helm-checksum/skip: "false"`, volumes: volumes("config")}, []string{"config"}},
		{"skip: true wins", part{own: `helm-checksum/skip: "false"`, annotations: `helm-checksum/skip: "true"`, volumes: volumes("config")}, nil},
		{"skip on the object", part{volumes: volumes("reloaded", "not-reloaded")}, []string{"not-reloaded"}},
		{"ignore by name", part{own: `helm-checksum/ignore: "configmap/flags"`, volumes: volumes("config", "flags")}, []string{"config"}},
		{"ignore on the pod template", part{annotations: `helm-checksum/ignore: "secret/x, configmap/flags"`, volumes: volumes("config", "flags")}, []string{"config"}},
		{"ignore lists are united", part{own: `helm-checksum/ignore: "configmap/config"`, annotations: `helm-checksum/ignore: "configmap/flags"`, volumes: volumes("config", "flags", "tls-a")}, []string{"tls-a"}},
		{"ignore of another kind", part{own: `helm-checksum/ignore: "secret/config"`, volumes: volumes("config")}, []string{"config"}},
		{"ignore with a star", part{own: `helm-checksum/ignore: "configmap/tls-*"`, volumes: volumes("tls-a", "tlsxa")}, []string{"tlsxa"}},
		{"ignore takes a dot as a dot", part{own: `helm-checksum/ignore: "configmap/dotted.name"`, volumes: volumes("dotted.name", "dottedxname")}, []string{"dottedxname"}},
		{"ignore that can't be read", part{own: `helm-checksum/ignore: "configmap/(, configmap/flags"`, volumes: volumes("config", "flags")}, []string{"config"}},
		{"ignore beats consumes", part{own: `helm-checksum/ignore: "configmap/flags", helm-checksum/consumes: "configmap/config, configmap/flags"`}, []string{"config"}},
		{"consumes with the namespace", part{own: `helm-checksum/consumes: "configmap/` + ns + `/config"`}, []string{"config"}},
		{"consumes from another namespace", part{own: `helm-checksum/consumes: "configmap/elsewhere/config"`}, nil},
		{"consumes takes no star", part{own: `helm-checksum/consumes: "configmap/con*"`}, nil},
		{"long names", part{volumes: volumes(long, huge)}, []string{long, huge}},
		{"an object that does not exist", part{volumes: volumes("absent", "config")}, []string{"config"}},
		{"a checksum stamp", part{annotations: "helm-checksum/configmap.config: abc", volumes: volumes("config", "flags")}, []string{"flags"}},
		{"a checksum stamp of a Secret of that name", part{annotations: "helm-checksum/secret.config: abc", volumes: volumes("config")}, []string{"config"}},
		{"a checksum stamp with a shortened key", part{
			annotations: "helm-checksum/" + ("configmap." + huge)[:52] + "-0123456789: abc", volumes: volumes(huge, "config")}, []string{"config"}},
		{"an old version stamp", part{annotations: `helm-checksum/configmap-version.config: "1"`, volumes: volumes("config")}, []string{"config"}},
		{"other annotations", part{annotations: "a/b: c", volumes: volumes("config")}, []string{"config"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := create(t, ns, deployment("x", c.part), "All")
			const prefix = "helm-checksum/configmap-version."
			want := map[string]string{}
			for _, name := range c.want {
				want[prefix+inKey(name)] = versions[name]
			}
			got := map[string]string{}
			all := templateAnnotations(t, o)
			for k, v := range all {
				if strings.HasPrefix(k, prefix) {
					got[k] = v
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("stamps (-want +got):\n%s", d)
			}
			if c.name == "other annotations" && all["a/b"] != "c" {
				t.Error("an annotation of the chart was lost")
			}
		})
	}
}
