package renderer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// TestEdgeCases holds a test for every line of edge-cases.md, the list of troubles
// that users of such tools really met, by its number. What needs a real Helm, 30, 31
// and 34, is tested with the command; 26 with the charts.
func TestEdgeCases(t *testing.T) {
	t.Run("01_references_in_init_containers", func(t *testing.T) {
		plan := wantStamps(t, renderer.Options{},
			deployment("web", "initContainers:\n- name: migrate\n  envFrom:\n  - configMapRef:\n      name: settings\ncontainers:\n- name: app\n")+
				configMap("settings", "a: \"1\"\n"),
			stamps{web: {"configmap.settings": sumA1}})
		want := []string{"initContainers[migrate].envFrom[0]"}
		if got := consumption(t, plan, "Deployment/web", "ConfigMap", "settings").Via; !cmp.Equal(want, got) {
			t.Errorf("via %q, want %q", got, want)
		}
	})
	t.Run("02_projected_sources", func(t *testing.T) {
		wantStamps(t, renderer.Options{},
			deployment("web", `containers:
- name: app
volumes:
- name: all
  projected:
    sources:
    - configMap:
        name: settings
    - serviceAccountToken:
        path: token
    - secret:
        name: credentials
`)+configMap("settings", "a: \"1\"\n")+secret("credentials", "password: s3cr3t\n"),
			stamps{web: {"configmap.settings": sumA1, "secret.credentials": sumPassword}})
	})
	t.Run("03_valueFrom_and_envFrom", func(t *testing.T) {
		wantStamps(t, renderer.Options{},
			deployment("web", `containers:
- name: app
  env:
  - name: A
    valueFrom:
      configMapKeyRef:
        name: one
        key: a
  - name: PASSWORD
    valueFrom:
      secretKeyRef:
        name: credentials
        key: password
  - name: NODE
    valueFrom:
      fieldRef:
        fieldPath: spec.nodeName
  envFrom:
  - configMapRef:
      name: two
  - prefix: X_
    secretRef:
      name: more
`)+configMap("one", "a: \"1\"\nb: \"2\"\n")+configMap("two", "a: \"1\"\nb: \"2\"\n")+
				secret("credentials", "password: s3cr3t\nother: x\n")+secret("more", "password: s3cr3t\n"),
			stamps{web: {"configmap.one": sumA1, "configmap.two": sumA1B2,
				"secret.credentials": sumPassword, "secret.more": sumPassword}})
	})
	t.Run("04_one_object_through_two_volumes", func(t *testing.T) {
		plan := wantStamps(t, renderer.Options{},
			deployment("web", `containers:
- name: app
  volumeMounts:
  - name: second
    mountPath: /etc/app
volumes:
- name: first
  configMap:
    name: settings
    items:
    - key: a
      path: a
- name: second
  configMap:
    name: settings
`)+configMap("settings", "a: \"1\"\nb: \"2\"\n"),
			stamps{web: {"configmap.settings": sumA1B2}})
		got := consumption(t, plan, "Deployment/web", "ConfigMap", "settings")
		if want := []string{"volumes[first].configMap", "volumes[second].configMap"}; !cmp.Equal(want, got.Via) {
			t.Errorf("via %q, want %q", got.Via, want)
		}
	})
	t.Run("05_two_references_to_one_object", func(t *testing.T) {
		spec := func(second string) string {
			return `containers:
- name: app
  env:
  - name: B
    valueFrom:
      configMapKeyRef:
        name: settings
        key: b
        optional: true
  - name: A
    valueFrom:
      configMapKeyRef:
        name: settings
        key: a
        optional: ` + second + "\n"
		}
		settings := configMap("settings", "a: \"1\"\nb: \"2\"\nc: \"3\"\n")
		plan := wantStamps(t, renderer.Options{}, deployment("web", spec("false"))+settings,
			stamps{web: {"configmap.settings": sumA1B2}})
		got := consumption(t, plan, "Deployment/web", "ConfigMap", "settings")
		if want := []string{"a", "b"}; !cmp.Equal(want, got.Keys) || got.Optional {
			t.Errorf("keys %q optional %v, want %q, required", got.Keys, got.Optional, want)
		}
		if _, err := newRenderer(t, renderer.Options{Strict: true}).Plan([]byte(deployment("web", spec("false")))); err == nil {
			t.Error("strict takes a required reference to nothing")
		}
		if _, err := newRenderer(t, renderer.Options{Strict: true}).Plan([]byte(deployment("web", spec("true")))); err != nil {
			t.Errorf("strict refuses references that are all optional: %v", err)
		}
	})
	t.Run("06_a_missing_namespace_is_the_release_namespace", func(t *testing.T) {
		settings := configMap("settings", "a: \"1\"\n")
		dep := deployment("web", envFrom("settings"))
		want := stamps{web: {"configmap.settings": sumA1}}
		prod := renderer.Options{Namespace: "prod"}
		wantStamps(t, prod, inNamespace("prod", dep)+settings, want)
		wantStamps(t, prod, dep+inNamespace("prod", settings), want)
		wantStamps(t, prod, dep+settings, want)
		plan := wantStamps(t, prod, dep+inNamespace("stage", settings), stamps{})
		if c := consumption(t, plan, "Deployment/web", "ConfigMap", "settings"); c.Status != renderer.External || c.Namespace != "prod" {
			t.Errorf("status %s in %q, want external in prod", c.Status, c.Namespace)
		}
		// The release namespace is not known: an absent one may be any one.
		wantStamps(t, renderer.Options{}, inNamespace("prod", dep)+settings, want)
		wantStamps(t, renderer.Options{}, dep+inNamespace("prod", settings), want)
	})
	t.Run("07_one_name_in_two_namespaces", func(t *testing.T) {
		stream := inNamespace("blue", deployment("web", envFrom("settings"))) +
			inNamespace("green", deployment("web2", envFrom("settings"))) +
			inNamespace("green", configMap("settings", "a: \"2\"\n")) +
			inNamespace("blue", configMap("settings", "a: \"1\"\n"))
		want := stamps{web: {"configmap.settings": sumA1}, "Deployment/web2 spec.template": {"configmap.settings": sumA2}}
		wantStamps(t, renderer.Options{}, stream, want)
		wantStamps(t, renderer.Options{Namespace: "blue"}, stream, want)

		// A workload without a namespace fits both; of the same name without one it takes that.
		loose := deployment("web3", envFrom("settings"))
		plan := wantStamps(t, renderer.Options{}, stream+loose, want)
		if c := consumption(t, plan, "Deployment/web3", "ConfigMap", "settings"); c.Status != renderer.Ambiguous {
			t.Errorf("status %s, want ambiguous", c.Status)
		}
		want["Deployment/web3 spec.template"] = map[string]string{"configmap.settings": sumB2}
		wantStamps(t, renderer.Options{}, stream+loose+configMap("settings", "b: \"2\"\n"), want)
	})
	t.Run("08_a_reference_out_of_the_stream", func(t *testing.T) {
		stream := deployment("web", envFrom("elsewhere"))
		plan := wantOutput(t, renderer.Options{}, stream, stream)
		if c := consumption(t, plan, "Deployment/web", "ConfigMap", "elsewhere"); c.Status != renderer.External || c.Annotation != "" || c.Checksum != "" {
			t.Errorf("got %+v, want external without a stamp", c)
		}
		if w := planned(t, plan, "Deployment/web"); w.Stamped || w.Reason == "" {
			t.Errorf("stamped %v for reason %q, want a reason", w.Stamped, w.Reason)
		}
	})
	t.Run("09_declared_dependencies", func(t *testing.T) {
		stream := inNamespace("prod", annotated("helm-checksum/consumes: \"configmap/settings, configmap/platform/shared, secret/credentials\"\n",
			deployment("web", "containers:\n- name: app\n"))) +
			configMap("settings", "a: \"1\"\nb: \"2\"\n") +
			inNamespace("platform", configMap("shared", "a: \"1\"\n")) +
			inNamespace("other", configMap("shared", "a: \"2\"\n")) +
			secret("credentials", "password: s3cr3t\n")
		// shared-dc96bede36: the tag is of platform/shared.
		want := stamps{web: {"configmap.settings": sumA1B2, "configmap.shared-dc96bede36": sumA1, "secret.credentials": sumPassword}}
		wantStamps(t, renderer.Options{}, stream, want)
		plan := wantStamps(t, renderer.Options{Namespace: "prod"}, stream, want)
		if c := consumption(t, plan, "Deployment/web", "ConfigMap", "shared"); c.Namespace != "platform" || c.Optional {
			t.Errorf("got %+v, want it required, from platform", c)
		}
		// On the pod template the control does the same.
		wantStamps(t, renderer.Options{}, strings.Replace(deployment("web", "containers: []\n"), "  template:\n",
			"  template:\n    metadata:\n      annotations:\n        helm-checksum/consumes: configmap/settings\n", 1)+configMap("settings", "a: \"1\"\n"),
			stamps{web: {"configmap.settings": sumA1}})
	})
	t.Run("10_unused_keys_and_items", func(t *testing.T) {
		dep := deployment("web", `containers:
- name: app
  volumeMounts:
  - name: plain
    mountPath: /a
  - name: projected
    mountPath: /b
  - name: narrow
    mountPath: /c/a
    subPath: ./a
volumes:
- name: plain
  configMap:
    name: plain
    items:
    - key: a
      path: a.conf
- name: projected
  projected:
    sources:
    - configMap:
        name: projected
        items:
        - key: a
          path: a.conf
- name: narrow
  configMap:
    name: narrow
`)
		names := []string{"plain", "projected", "narrow"}
		config := func(unused string) (all string) {
			for _, name := range names {
				all += configMap(name, "a: \"1\"\nb: \""+unused+"\"\n")
			}
			return all
		}
		want := stamps{web: {"configmap.plain": sumA1, "configmap.projected": sumA1, "configmap.narrow": sumA1}}
		wantStamps(t, renderer.Options{}, dep+config("2"), want)
		wantStamps(t, renderer.Options{}, dep+config("changed"), want)
	})
	t.Run("11_opt_out_per_workload_and_per_object", func(t *testing.T) {
		settings, dep := configMap("settings", "a: \"1\"\n"), deployment("web", envFrom("settings"))
		off := "helm-checksum/skip: \"true\"\n"
		for name, c := range map[string]struct {
			o      renderer.Options
			stream string
			status renderer.Status
		}{
			"workload":        {renderer.Options{}, annotated(off, dep) + settings, renderer.NotStamped},
			"pod template":    {renderer.Options{}, strings.Replace(dep, "  template:\n", "  template:\n    metadata:\n      annotations:\n        "+off, 1) + settings, renderer.NotStamped},
			"object":          {renderer.Options{}, dep + annotated(off, settings), renderer.Skipped},
			"ignore":          {renderer.Options{}, annotated("helm-checksum/ignore: configmap/set*\n", dep) + settings, renderer.Ignored},
			"flag, workload":  {renderer.Options{Skip: []string{"deployment/w*"}}, dep + settings, renderer.NotStamped},
			"flag, object":    {renderer.Options{Skip: []string{"configmap/settings"}}, dep + settings, renderer.Skipped},
			"flag, ignore":    {renderer.Options{Ignore: []string{"configmap/*"}}, dep + settings, renderer.Ignored},
			"flag, ignore in": {renderer.Options{Ignore: []string{"deployment/web:configmap/settings"}}, dep + settings, renderer.Ignored},
			"opt-in":          {renderer.Options{OptIn: true}, dep + settings, renderer.NotStamped},
		} {
			t.Run(name, func(t *testing.T) {
				plan := wantOutput(t, c.o, c.stream, c.stream)
				if got := consumption(t, plan, "Deployment/web", "ConfigMap", "settings").Status; got != c.status {
					t.Errorf("status %s, want %s", got, c.status)
				}
			})
		}
		want := stamps{web: {"configmap.settings": sumA1}}
		wantStamps(t, renderer.Options{OptIn: true}, annotated("helm-checksum/stamp: \"true\"\n", dep)+settings, want)
		wantStamps(t, renderer.Options{}, annotated("helm-checksum/skip: \"false\"\n", dep)+settings, want)
		wantStamps(t, renderer.Options{Ignore: []string{"statefulset/web:configmap/settings"}}, dep+settings, want)
		wantStamps(t, renderer.Options{IgnoreSecrets: true}, dep+settings, want)
	})
	t.Run("12_custom_resources_by_path", func(t *testing.T) {
		stream := `---
apiVersion: example.com/v1
kind: Fleet
metadata:
  name: fleet
spec:
  groups:
  - name: a
    podTemplate:
      spec:
        containers:
        - name: app
          envFrom:
          - configMapRef:
              name: settings
  - name: b
    podTemplate:
      spec:
        containers: []
  - name: c
    podTemplate:
      metadata:
        labels:
          x: y
      spec:
        containers:
        - name: app
          envFrom:
          - configMapRef:
              name: settings
` + configMap("settings", "a: \"1\"\n")
		wantOutput(t, renderer.Options{}, stream, stream)
		wantStamps(t, renderer.Options{Workloads: []string{"example.com/Fleet=spec.groups[*].podTemplate"}}, stream, stamps{
			"Fleet/fleet spec.groups[0].podTemplate": {"configmap.settings": sumA1},
			"Fleet/fleet spec.groups[2].podTemplate": {"configmap.settings": sumA1},
		})
		wantOutput(t, renderer.Options{Workloads: []string{"example.org/Fleet=spec.groups[*].podTemplate"}}, stream, stream)
	})
	t.Run("13_volumes_out_of_place", func(t *testing.T) {
		stream := `---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
volumes: nonsense
spec:
  volumes:
  - configMap:
      name: settings
  template:
    volumes:
    - just a string
    - configMap:
        name: settings
    spec:
      containers:
      - name: app
        volumes:
          configMap:
            name: settings
` + configMap("settings", "a: \"1\"\n")
		plan := wantOutput(t, renderer.Options{}, stream, stream)
		if w := planned(t, plan, "Deployment/web"); len(w.Consumes) != 0 {
			t.Errorf("consumes %+v, want nothing", w.Consumes)
		}
	})
	t.Run("14_list_items_with_shared_anchors", func(t *testing.T) {
		stream := `apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    template:
      metadata:
        labels: {app: web}
      spec: &spec
        containers:
        - name: app
          envFrom:
          - configMapRef: {name: settings}
- apiVersion: apps/v1
  kind: DaemonSet
  metadata: {name: agent}
  spec:
    template:
      metadata:
        labels: {app: agent}
      spec: *spec
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings}
  data: &data
    a: "1"
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: unused}
  data: *data
`
		plan := wantStamps(t, renderer.Options{}, stream, stamps{
			web:                             {"configmap.settings": sumA1},
			"DaemonSet/agent spec.template": {"configmap.settings": sumA1},
		})
		if planned(t, plan, "DaemonSet/agent").Restyled {
			t.Error("restyled, though the stamps fit in place")
		}
		// Where the shared part is the metadata itself, one place can't hold two stamps.
		shared := strings.Replace(strings.Replace(strings.Replace(stream, "      metadata:\n        labels: {app: web}", "      metadata: &metadata\n        labels: {app: web}", 1),
			"      metadata:\n        labels: {app: agent}\n      spec: *spec", "      metadata: *metadata\n      spec: {containers: []}", 1), "&spec", "", 1)
		wantStamps(t, renderer.Options{}, shared, stamps{web: {"configmap.settings": sumA1}})
	})

	t.Run("15_a_job_is_never_stamped", func(t *testing.T) {
		stream := workload("batch/v1", "Job", "migrate", envFrom("settings")) + configMap("settings", "a: \"1\"\n")
		plan := wantOutput(t, renderer.Options{}, stream, stream)
		if w := planned(t, plan, "Job/migrate"); w.Stamped || !strings.Contains(w.Reason, "immutable") || w.Consumes[0].Status != renderer.NotStamped {
			t.Errorf("got %+v, want it not stamped: immutable", w)
		}
	})
	t.Run("16_a_fixed_knative_revision", func(t *testing.T) {
		service := workload("serving.knative.dev/v1", "Service", "hello", envFrom("settings"))
		settings := configMap("settings", "a: \"1\"\n")
		wantStamps(t, renderer.Options{}, service+settings, stamps{"Service/hello spec.template": {"configmap.settings": sumA1}})
		fixed := strings.Replace(service, "  template:\n", "  template:\n    metadata:\n      name: hello-v1\n", 1) + settings
		plan := wantOutput(t, renderer.Options{}, fixed, fixed)
		if w := planned(t, plan, "Service/hello"); !strings.Contains(w.Reason, "revision") {
			t.Errorf("reason %q, want the fixed revision name", w.Reason)
		}
	})
	t.Run("17_a_cronjob_is_left_alone", func(t *testing.T) {
		stream := "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: nightly\nspec:\n  jobTemplate:\n    spec:\n      template:\n        spec:\n" +
			indent(10, envFrom("settings")) + configMap("settings", "a: \"1\"\n")
		plan := wantOutput(t, renderer.Options{}, stream, stream)
		w := planned(t, plan, "CronJob/nightly")
		if w.Stamped || w.Reason != "the next run reads the current config anyway" || w.Template != "spec.jobTemplate.spec.template" {
			t.Errorf("got %+v", w)
		}
	})
	t.Run("18_only_pod_template_annotations_change", func(t *testing.T) {
		wantOutput(t, renderer.Options{}, `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  annotations:
    own: "1"
  labels:
    app: db
spec:
  selector:
    matchLabels:
      app: db
  volumeClaimTemplates:
  - metadata:
      name: data
      annotations:
        pvc: "1"
  template:
    metadata:
      labels:
        app: db
      annotations:
        pod: "1"
    spec:
      containers:
      - envFrom:
        - configMapRef:
            name: settings
`+configMap("settings", "a: \"1\"\n"), `apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: db
  annotations:
    own: "1"
  labels:
    app: db
spec:
  selector:
    matchLabels:
      app: db
  volumeClaimTemplates:
  - metadata:
      name: data
      annotations:
        pvc: "1"
  template:
    metadata:
      labels:
        app: db
      annotations:
        helm-checksum/configmap.settings: `+sumA1+`
        pod: "1"
    spec:
      containers:
      - envFrom:
        - configMapRef:
            name: settings
`+configMap("settings", "a: \"1\"\n"))
	})
	t.Run("19_a_charts_own_checksums_stay", func(t *testing.T) {
		stream := strings.Replace(deployment("web", envFrom("settings")), "  template:\n", `  template:
    metadata:
      annotations:
        checksum/config: 0123456789abcdef
        helm-checksum/configmap-version.settings: "12345"
        helm-checksum/secret-version.credentials: "678"
`, 1) + configMap("settings", "a: \"1\"\n")
		out, _ := run(t, renderer.Options{}, stream)
		for _, want := range []string{"checksum/config: 0123456789abcdef\n", "configmap-version.settings: \"12345\"\n", "secret-version.credentials: \"678\"\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is gone from:\n%s", want, out)
			}
		}
		again, plan := run(t, renderer.Options{}, out)
		if again != out || plan.Changed() {
			t.Errorf("the second run says that it changes something: %v", plan.Changed())
		}
	})
	t.Run("20_an_argo_rollout_with_workloadRef", func(t *testing.T) {
		rollout := "---\napiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata:\n  name: canary\nspec:\n  workloadRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: web\n"
		plan := wantStamps(t, renderer.Options{}, rollout+deployment("web", envFrom("settings"))+configMap("settings", "a: \"1\"\n"),
			stamps{web: {"configmap.settings": sumA1}})
		if w := planned(t, plan, "Rollout/canary"); w.Stamped || !strings.Contains(w.Reason, "workloadRef") {
			t.Errorf("got %+v, want the reason to name workloadRef", w)
		}
		wantStamps(t, renderer.Options{}, workload("argoproj.io/v1alpha1", "Rollout", "canary", envFrom("settings"))+configMap("settings", "a: \"1\"\n"),
			stamps{"Rollout/canary spec.template": {"configmap.settings": sumA1}})
	})

	t.Run("21_metadata_does_not_count", func(t *testing.T) {
		dep := deployment("web", envFrom("settings"))
		settings := configMap("settings", "FEATURE_RECS: \"on\"\n")
		bumped := "apiVersion: v1\nimmutable: true\n" + strings.Replace(strings.Replace(settings, "---\napiVersion: v1\n", "", 1), "  name: settings\n",
			"  labels:\n    helm.sh/chart: app-2.0.0\n  name: settings\n  annotations:\n    note: other\n", 1)
		want := stamps{web: {"configmap.settings": sumOn}}
		wantStamps(t, renderer.Options{}, dep+settings, want)
		wantStamps(t, renderer.Options{}, dep+"---\n"+bumped, want)
	})
	t.Run("22_separators_in_values", func(t *testing.T) {
		dep := deployment("web", envFrom("settings"))
		wantStamps(t, renderer.Options{}, dep+configMap("settings", "a: 1;b=2\n"),
			stamps{web: {"configmap.settings": "5d1d44f64107d6c010db8c2b7b6c2adac5b65670054dc380ce1e31ab82a0a661"}})
		wantStamps(t, renderer.Options{}, dep+configMap("settings", "a: \"1\"\nb: \"2\"\n"),
			stamps{web: {"configmap.settings": sumA1B2}})
	})
	t.Run("23_binaryData_and_stringData", func(t *testing.T) {
		dep := deployment("web", "containers:\n- envFrom:\n  - configMapRef:\n      name: settings\n  - secretRef:\n      name: credentials\n")
		binary := "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  t: text\nbinaryData:\n  b: AAEC/w==\n"
		const sumBinary = "a32214afe91141c6f6a253627f9e045dc5765c95f014d963307b8e168074bbfc" // t=text, b=00 01 02 ff
		want := stamps{web: {"configmap.settings": sumBinary, "secret.credentials": sumPassword}}
		for name, s := range map[string]string{
			"data":                   "data:\n  password: czNjcjN0\n",
			"stringData":             "stringData:\n  password: s3cr3t\n",
			"stringData over data":   "data:\n  password: b2xk\nstringData:\n  password: s3cr3t\n",
			"stringData before data": "stringData:\n  password: s3cr3t\ndata:\n  password: b2xk\n",
			"folded base64":          "data:\n  password: |\n    czNj\n    cjN0\n",
			"quoted base64":          "data: {\"password\": \"czNjcjN0\"}\n",
		} {
			t.Run(name, func(t *testing.T) {
				plan := wantStamps(t, renderer.Options{}, dep+binary+"---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: credentials\n"+s, want)
				if len(plan.Warnings) > 0 {
					t.Errorf("warnings: %q", plan.Warnings)
				}
			})
		}
	})
	t.Run("24_long_names_and_dots", func(t *testing.T) {
		long := strings.Repeat("x", 253)
		almost := strings.Repeat("x", 252) + "y"
		fits := strings.Repeat("c", 53) // with configmap. the 63 characters that there are
		stream := deployment("web", "containers:\n- envFrom:\n  - configMapRef:\n      name: a.b\n  - configMapRef:\n      name: a-b\n  - configMapRef:\n      name: "+
			long+"\n  - configMapRef:\n      name: "+almost+"\n  - configMapRef:\n      name: "+fits+"\n") +
			configMap("a.b", "a: \"1\"\n") + configMap("a-b", "a: \"2\"\n") + configMap(long, "b: \"2\"\n") + configMap(almost, "a: \"1\"\n") + configMap(fits, "a: \"1\"\n")
		head := "configmap." + strings.Repeat("x", 42)
		out, _ := run(t, renderer.Options{}, stream)
		got := stampsOf(t, out)
		want := stamps{web: {"configmap.a.b": sumA1, "configmap.a-b": sumA2, "configmap." + fits: sumA1,
			head + "-0478505296": sumB2, head + "-749b9b524e": sumA1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stamps (-want +got):\n%s", diff)
		}
		for key := range got[web] {
			if len(key) > 63 {
				t.Errorf("%s has %d characters", key, len(key))
			}
		}
	})
	t.Run("25_a_random_password_is_hashed_as_rendered", func(t *testing.T) {
		dep := deployment("web", "containers:\n- envFrom:\n  - secretRef:\n      name: credentials\n")
		wantStamps(t, renderer.Options{}, dep+secret("credentials", "password: s3cr3t\n"), stamps{web: {"secret.credentials": sumPassword}})
		want := renderer.Checksum("Secret", map[string][]byte{"password": []byte("0th3r")}, []string{"*"}, nil)
		wantStamps(t, renderer.Options{}, dep+secret("credentials", "password: 0th3r\n"), stamps{web: {"secret.credentials": want}})
	})

	t.Run("27_hook_and_template_of_one_name", func(t *testing.T) {
		dep := deployment("web", envFrom("settings"))
		hook := annotated("helm.sh/hook: pre-install\n", configMap("settings", "a: \"1\"\n"))
		template := configMap("settings", "a: \"2\"\n")
		for _, stream := range []string{dep + hook + template, dep + template + hook, template + dep + hook} {
			plan := wantStamps(t, renderer.Options{}, stream, stamps{web: {"configmap.settings": sumA2}})
			if len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "ConfigMap/settings") || len(plan.Configs) != 1 {
				t.Errorf("warnings %q and configs %+v, want one warning that names it, and one config", plan.Warnings, plan.Configs)
			}
		}
		// Alone, the hook's object is in the stream as Helm 4 hands it over.
		wantStamps(t, renderer.Options{}, hook+dep, stamps{web: {"configmap.settings": sumA1}})
		// Of equals the last counts.
		wantStamps(t, renderer.Options{}, dep+configMap("settings", "a: \"1\"\n")+template, stamps{web: {"configmap.settings": sumA2}})
	})
	t.Run("28_the_file_name_annotation_survives", func(t *testing.T) {
		name := "postrenderer.helm.sh/postrender-filename: app/templates/all.yaml\n"
		stream := annotated(name, deployment("web", envFrom("settings"))) + annotated(name, configMap("settings", "a: \"1\"\n"))
		plan := wantStamps(t, renderer.Options{}, stream, stamps{web: {"configmap.settings": sumA1}})
		if got := planned(t, plan, "Deployment/web").Source; got != "app/templates/all.yaml" {
			t.Errorf("source %q", got)
		}
		for _, written := range []string{
			`{postrenderer.helm.sh/postrender-filename: app/templates/all.yaml, a: b}`,
			`{"postrenderer.helm.sh/postrender-filename": "app/templates/all.yaml"}`,
			`{a: b, 'postrenderer.helm.sh/postrender-filename': 'app/templates/all.yaml' }`,
		} {
			_, plan := run(t, renderer.Options{}, strings.Replace(deployment("web", envFrom("x")), "metadata:\n", "metadata:\n  annotations: "+written+"\n", 1))
			if got := planned(t, plan, "Deployment/web").Source; got != "app/templates/all.yaml" {
				t.Errorf("of %s the source is %q", written, got)
			}
		}
		if out, _ := run(t, renderer.Options{}, stream); strings.Count(out, name) != 2 {
			t.Errorf("it is gone from:\n%s", out)
		}
	})
	t.Run("29_empty_gives_empty_and_nothing_else_does", func(t *testing.T) {
		plan := wantOutput(t, renderer.Options{}, "", "")
		if len(plan.Workloads)+len(plan.Configs)+len(plan.Warnings) != 0 {
			t.Errorf("an empty stream has the plan %+v", plan)
		}
		for _, stream := range []string{"\n", " ", "---\n", "...\n", "# comment\n", "# comment", "\ufeff", "null\n", "~", "---\n---\n"} {
			wantOutput(t, renderer.Options{}, stream, stream)
		}
	})
	t.Run("32_secrets_that_are_hidden_as_comments", func(t *testing.T) {
		stream := deployment("web", "containers:\n- envFrom:\n  - secretRef:\n      name: credentials\n") +
			"---\n# Source: app/templates/secret.yaml\n# HIDDEN: The Secret output has been suppressed\n"
		plan := wantOutput(t, renderer.Options{}, stream, stream)
		if got := consumption(t, plan, "Deployment/web", "Secret", "credentials").Status; got != renderer.External {
			t.Errorf("status %s, want external", got)
		}
	})
	t.Run("33_crds_are_not_parsed", func(t *testing.T) {
		// Not YAML at all: whoever parses it fails.
		crd := "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.com\nspec:\n\t- [ broken: \"Deployment ConfigMap\n" +
			strings.Repeat("  # a long schema\n", 100000)
		dep := deployment("web", envFrom("settings"))
		out, _ := run(t, renderer.Options{}, crd+dep+configMap("settings", "a: \"1\"\n"))
		if !strings.HasPrefix(out, crd) {
			t.Error("the definition was changed")
		}
		if !cmp.Equal(stampsOf(t, out), stamps{web: {"configmap.settings": sumA1}}) {
			t.Errorf("stamps %v", stampsOf(t, out))
		}
	})

	t.Run("35_a_separator_glued_to_the_text", func(t *testing.T) {
		dep := strings.Replace(deployment("web", envFrom("settings")), "---\n", "---", 1)
		settings := strings.Replace(configMap("settings", "a: \"1\"\n"), "---\n", "---", 1)
		for _, stream := range []string{dep + settings, settings + dep, "---\n" + dep + settings} {
			out, _ := run(t, renderer.Options{}, stream)
			if !strings.Contains(out, "---apiVersion: apps/v1\n") || !strings.Contains(out, settings) ||
				!strings.Contains(out, "helm-checksum/configmap.settings: "+sumA1) {
				t.Errorf("got:\n%s", out)
			}
		}
		plan := wantStamps(t, renderer.Options{}, `---{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"envFrom":[{"configMapRef":{"name":"settings"}}]}]}}}}
---# a comment
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  a: "1"
`, stamps{web: {"configmap.settings": sumA1}})
		if w := planned(t, plan, "Deployment/web"); w.Restyled {
			t.Error("restyled")
		}
	})
	t.Run("36_separators_in_block_scalars", func(t *testing.T) {
		data := "FEATURE_RECS: |-\n  on\nnested: |\n  ---\n  apiVersion: v1\n  kind: Deployment\n  ...\n  ----------\n  -----BEGIN CERTIFICATE-----\nnext: >\n  ---\n  ... folded\n"
		stream := configMap("settings", data) + deployment("web", `containers:
- name: app
  env:
  - name: A
    valueFrom:
      configMapKeyRef:
        name: settings
        key: FEATURE_RECS
  args:
  - |
    ---
    kind: ConfigMap
    ...
`)
		plan := wantStamps(t, renderer.Options{}, stream, stamps{web: {"configmap.settings": sumOn}})
		if len(plan.Workloads) != 1 || len(plan.Configs) != 1 {
			t.Errorf("%d workloads and %d configs, want one of each", len(plan.Workloads), len(plan.Configs))
		}
	})
	t.Run("37_final_newlines_of_block_scalars", func(t *testing.T) {
		dep := deployment("web", envFrom("settings")+"  command:\n  - sh\n  - -c\n  - |\n    exec app\n")
		for _, end := range []string{"", "\n", "\n\n\n"} {
			stream := configMap("settings", "a: |\n  line 1\n  line 2\n") + dep + end
			out, _ := run(t, renderer.Options{}, stream)
			if !strings.HasSuffix(out, "  - |\n          exec app\n"+end) {
				t.Errorf("the end was changed:\n%q", out[len(out)-80:])
			}
		}
		const sum = "4fae751540f0d95c8cf40979bc9acf3eab053c42c32f0cf491504d22ac83396b" // a="line 1\nline 2\n"
		for _, scalar := range []string{"|\n  line 1\n  line 2\n", "|\n  line 1\n  line 2\n\n\n", "|+\n  line 1\n  line 2\n", "\"line 1\\nline 2\\n\"\n"} {
			wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+configMap("settings", "a: "+scalar), stamps{web: {"configmap.settings": sum}})
			wantStamps(t, renderer.Options{}, configMap("settings", "a: "+scalar)+deployment("web", envFrom("settings")), stamps{web: {"configmap.settings": sum}})
		}
	})
	t.Run("38_untouched_documents_are_identical", func(t *testing.T) {
		other := "---\n\n\n# Source: app/templates/service.yaml\nkind:   Service   # odd\napiVersion: 'v1'\nmetadata: { name: \"x\" , labels: {a: b,} }\n\nspec:\n    note: " +
			strings.Repeat("long ", 200) + "\n    emoji: \"🚀 \\U0001F680\"\n    trailing: x   \n\n\n"
		unused := "---\n" + strings.Replace(configMap("unused", "a: >-\n  folded\n\n  text   \n"), "---\n", "# about it\n", 1)
		stream := other + deployment("web", envFrom("settings")) + unused + configMap("settings", "a: \"1\"\n") + other
		out, _ := run(t, renderer.Options{}, stream)
		if want := strings.Replace(stream, "  template:\n", "  template:\n    metadata:\n      annotations:\n        helm-checksum/configmap.settings: "+sumA1+"\n", 1); out != want {
			t.Errorf("output (-want +got):\n%s", cmp.Diff(want, out))
		}
	})
	t.Run("39_documents_without_content", func(t *testing.T) {
		settings := configMap("settings", "a: \"1\"\n")
		for _, nothing := range []string{
			"---\n# only a comment\n", "---\n", "---\n\n\n", "---\nnull\n", "---\n~\n", "--- # comment\n", "--- ~\n", "---\n...\n", "...\n",
			"%YAML 1.1\n", "%YAML 1.1\n---\n# nothing\n", "---\n{}\n", "---\n[]\n", "---\n\"\"\n", "# comment\n",
		} {
			for _, stream := range []string{
				nothing + deployment("web", envFrom("settings")) + settings,
				deployment("web", envFrom("settings")) + nothing + settings,
				deployment("web", envFrom("settings")) + settings + nothing,
			} {
				if strings.HasPrefix(nothing, "%") && !strings.HasPrefix(stream, nothing) {
					stream = strings.Replace(stream, nothing, "...\n"+nothing, 1)
				}
				out, _ := run(t, renderer.Options{}, stream)
				if want := strings.Replace(stream, "  template:\n", "  template:\n    metadata:\n      annotations:\n        helm-checksum/configmap.settings: "+sumA1+"\n", 1); out != want {
					t.Errorf("with %q, output (-want +got):\n%s", nothing, cmp.Diff(want, out))
				}
			}
		}
		wantStamps(t, renderer.Options{}, "--- # comment\n# Source: x\n"+strings.TrimPrefix(deployment("web", envFrom("settings")), "---\n")+settings,
			stamps{web: {"configmap.settings": sumA1}})
	})
	t.Run("40_of_duplicate_keys_the_last_counts", func(t *testing.T) {
		stream := strings.Replace(deployment("web", envFrom("settings")), "  template:\n", `  template:
    metadata:
      annotations:
        first: "1"
      labels:
        a: b
      annotations:
        second: "2"
`, 1) + configMap("settings", "a: \"1\"\n")
		plan := wantOutput(t, renderer.Options{}, stream, strings.Replace(stream, "        second:", "        helm-checksum/configmap.settings: "+sumA1+"\n        second:", 1))
		if planned(t, plan, "Deployment/web").Restyled {
			t.Error("restyled")
		}
		// Of config's keys too, of a whole map twice, and of kind.
		wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+configMap("settings", "a: \"2\"\na: \"1\"\n"), stamps{web: {"configmap.settings": sumA1}})
		wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+configMap("settings", "x: \"2\"\n")+"data:\n  a: \"1\"\n", stamps{web: {"configmap.settings": sumA1}})
		wantStamps(t, renderer.Options{}, strings.Replace(deployment("web", envFrom("settings")), "kind: Deployment\n", "kind: Service\nkind: Deployment\n", 1)+configMap("settings", "a: \"1\"\n"),
			stamps{web: {"configmap.settings": sumA1}})
	})
	t.Run("41_every_form_of_annotations", func(t *testing.T) { testAnnotationForms(t) })
	t.Run("42_json_and_flow_stay_valid", func(t *testing.T) { testJSON(t) })
	t.Run("43_crlf_and_byte_order_marks", func(t *testing.T) {
		lf := deployment("web", envFrom("settings")) + configMap("settings", "a: \"1\"\nb: \"2\"\n")
		crlf := strings.ReplaceAll(lf, "\n", "\r\n")
		want := stamps{web: {"configmap.settings": sumA1B2}}
		out, _ := run(t, renderer.Options{}, crlf)
		if !cmp.Equal(stampsOf(t, out), want) {
			t.Errorf("stamps %v, want %v", stampsOf(t, out), want)
		}
		if strings.Count(out, "\r\n") != strings.Count(out, "\n") {
			t.Errorf("line ends are mixed in %q", out)
		}
		for _, stream := range []string{
			"\ufeff" + lf, strings.ReplaceAll(lf, "---\n", "---\n\ufeff"), strings.ReplaceAll(lf, "---\n", "\ufeff---\n"),
			"\ufeff" + crlf, strings.ReplaceAll(crlf, "---\r\n", "---\r\n\ufeff"),
			strings.ReplaceAll(lf, "---\n", "---\n# Source: x\n\ufeff"), strings.ReplaceAll(lf, "---\n", "---\n\ufeff# comment\n"),
		} {
			out, plan := run(t, renderer.Options{}, stream)
			if strings.Count(out, "\ufeff") != strings.Count(stream, "\ufeff") {
				t.Errorf("%q lost a byte-order mark", out)
			}
			if planned(t, plan, "Deployment/web").Restyled || !strings.Contains(out, "configmap.settings: "+sumA1B2) {
				t.Errorf("got %q", out)
			}
		}
		// A block scalar's line ends are no part of its text.
		literal := deployment("web", envFrom("settings")) + configMap("settings", "a: |\n  line 1\n  line 2\n")
		a, _ := run(t, renderer.Options{}, literal)
		b, _ := run(t, renderer.Options{}, strings.ReplaceAll(literal, "\n", "\r\n"))
		if diff := cmp.Diff(stampsOf(t, a), stampsOf(t, b)); diff != "" {
			t.Errorf("CRLF changes the checksum:\n%s", diff)
		}
	})
	t.Run("44_scalars_of_yaml_1_1", func(t *testing.T) {
		// on: x is the key "true"; 010 is the number 8.
		const sum = "cf66005322cefea1464f437ff1f4170e6c376a47c729c25e962bc631e0f5e3b4" // true=x, a=8
		plan := wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+configMap("settings", "on: x\na: 010\n"), stamps{web: {"configmap.settings": sum}})
		if len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "key \"a\"") {
			t.Errorf("warnings %q, want one about key a", plan.Warnings)
		}
		wantStamps(t, renderer.Options{}, deployment("web", "containers:\n- env:\n  - valueFrom:\n      configMapKeyRef:\n        name: settings\n        key: \"false\"\n")+
			configMap("settings", "n: x\n"),
			stamps{web: {"configmap.settings": renderer.Checksum("ConfigMap", map[string][]byte{"false": []byte("x")}, []string{"*"}, nil)}})
		stream := strings.Replace(deployment("web", envFrom("settings")), "  template:\n", "  template:\n    metadata:\n      annotations:\n        zip: \"01234\"\n        oct: 010\n        on: off\n        v: 1.10\n", 1) +
			configMap("settings", "a: \"1\"\n")
		out, _ := run(t, renderer.Options{}, stream)
		if want := "        zip: \"01234\"\n        oct: 010\n        on: off\n        v: 1.10\n"; !strings.Contains(out, want) {
			t.Errorf("the scalars were rewritten:\n%s", out)
		}
	})
	t.Run("45_white_space_at_the_ends", func(t *testing.T) {
		settings := configMap("settings", "a: \"1\"\n")
		dep := deployment("web", envFrom("settings"))
		want := "  template:\n    metadata:\n      annotations:\n        helm-checksum/configmap.settings: " + sumA1 + "\n"
		for _, stream := range []string{
			settings + strings.TrimSuffix(dep, "\n"),
			settings + dep + "   ",
			settings + dep + "\n \n",
			settings + strings.ReplaceAll(dep, "name: app\n", "name: app  \t \n"),
			strings.ReplaceAll(settings, "\n", " \n") + dep,
			settings + strings.Replace(dep, "name: app\n", "name:\tapp\n", 1),
		} {
			wantOutput(t, renderer.Options{}, stream, strings.Replace(stream, "  template:\n", want, 1))
		}
		// Nothing behind the place of the stamps, not even a line break.
		short := settings + "---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - envFrom:\n        - configMapRef:\n            name: settings\n    metadata:"
		wantOutput(t, renderer.Options{}, short, short+"\n      annotations:\n        helm-checksum/configmap.settings: "+sumA1)
		stamped := strings.Replace(dep, "  template:\n", "  template:\n    metadata:\n      creationTimestamp: null\n", 1)
		wantOutput(t, renderer.Options{}, settings+stamped, strings.Replace(settings+stamped, "      creationTimestamp",
			"      annotations:\n        helm-checksum/configmap.settings: "+sumA1+"\n      creationTimestamp", 1))
		flow := strings.Replace(dep, "  template:\n", "  template:\n    metadata: {creationTimestamp: null}\n", 1)
		wantOutput(t, renderer.Options{}, settings+flow, strings.Replace(settings+flow, "{creationTimestamp",
			`{"annotations": {"helm-checksum/configmap.settings": "`+sumA1+`"}, creationTimestamp`, 1))
	})
	t.Run("46_odd_layouts", func(t *testing.T) { testLayouts(t) })
	t.Run("47_time_in_proportion", func(t *testing.T) { testProportion(t) })
}

// runErr runs a stream that is to be refused: an error, no output.
func runErr(t *testing.T, o renderer.Options, stream string) error {
	t.Helper()
	out, err := newRenderer(t, o).Run(bytes.NewBufferString(stream))
	if err == nil {
		t.Fatalf("no error for:\n%s", stream)
	}
	if out != nil {
		t.Errorf("output beside an error: %q", out)
	}
	return err
}
