package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workloadChart has a Deployment, its ConfigMap, and a hook.
func workloadChart() map[string]string {
	return map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n", "values.yaml": "",
		"templates/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: web-config
data:
  # kept by Helm, and by its re-serialisation
  text: |
    two
    lines
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example.com/web:1.0.0
        envFrom: [{configMapRef: {name: web-config}}]
`,
		"templates/hook.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: hook
  annotations: {helm.sh/hook: pre-upgrade}
`,
	}
}

func workloadRelease(t *testing.T, spec string, o Options, more ...map[string]string) *Release {
	t.Helper()
	files := merged(under("charts/web", workloadChart()), map[string]string{"apps/release.yaml": helmRelease(localChart + spec)})
	return only(t, checkout(t, merged(append([]map[string]string{files}, more...)...)), o)
}

// objectIn returns an object of a stream, by kind and name.
func objectIn(t *testing.T, stream []byte, kind, name string) map[string]any {
	t.Helper()
	for _, d := range splitDocuments(stream) {
		content, err := parseDocument(d.text)
		if err != nil {
			t.Fatal(err)
		}
		if o := newObject(content); o.kind == kind && o.name == name {
			return content
		}
	}
	return nil
}

func dig(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

const ours = `  - kustomize:
      patches:
      - target: {kind: Deployment, name: web}
        patch: |
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: web}
          spec: {template: {metadata: {annotations: {helm-checksum/configmap.web-config: "0123"}}}}
`

func TestOtherPostRenderersAndCommonMetadataAreInTheStream(t *testing.T) {
	r := workloadRelease(t, `  commonMetadata: {labels: {team: web}, annotations: {note: common}}
  postRenderers:
  - kustomize:
      images: [{name: example.com/web, newTag: 2.0.0}]
`+ours+`  - kustomize:
      patches:
      - target: {kind: ConfigMap, name: web-.*}
        patch: |
          - {op: add, path: /data/more, value: patched}
`, Options{})
	stream := render(t, r).Stream
	data := dataIn(t, stream)
	if diff := cmp.Diff(map[string]any{"text": "two\nlines\n", "more": "patched"}, data); diff != "" {
		t.Error(diff)
	}
	deployment := objectIn(t, stream, "Deployment", "web")
	containers, _ := dig(deployment, "spec", "template", "spec", "containers").([]any)
	if image := dig(containers[0], "image"); image != "example.com/web:2.0.0" {
		t.Errorf("image is %v", image)
	}
	if annotations := dig(deployment, "spec", "template", "metadata", "annotations"); annotations != nil {
		t.Errorf("our own entry was run: %v", annotations)
	}
	if dig(deployment, "metadata", "labels", "team") != "web" || dig(deployment, "metadata", "annotations", "note") != "common" {
		t.Errorf("no common metadata: %v", deployment["metadata"])
	}
	if got := dig(deployment, "metadata", "annotations", filenameAnnotation); got != "web/templates/all.yaml" {
		t.Errorf("the file-name annotation is %v", got)
	}
}

func TestTheAddedEntryRunsAfterTheOthers(t *testing.T) {
	r := workloadRelease(t, `  postRenderers:
  - kustomize:
      patches:
      - patch: |
          apiVersion: apps/v1
          kind: Deployment
          metadata: {name: web}
          spec: {template: {metadata: {annotations: {who: user}}}}
`, Options{})
	entry := map[string]any{"kustomize": map[string]any{"patches": []any{map[string]any{
		"target": map[string]any{"group": "apps", "version": "v1", "kind": "Deployment", "name": "web"},
		"patch":  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {metadata: {annotations: {who: added}}}}\n",
	}}}}
	with, err := r.RenderWith(t.Context(), entry)
	if err != nil {
		t.Fatal(err)
	}
	applied, err := r.ApplyPostRenderers(render(t, r).Stream, entry)
	if err != nil {
		t.Fatal(err)
	}
	for name, stream := range map[string][]byte{"RenderWith": with.Stream, "ApplyPostRenderers": applied} {
		if got := dig(objectIn(t, stream, "Deployment", "web"), "spec", "template", "metadata", "annotations", "who"); got != "added" {
			t.Errorf("%s: who is %v", name, got)
		}
	}
}

func TestOldPatchFields(t *testing.T) {
	files := map[string]string{"apps/release.yaml": strings.Replace(helmRelease(localChart+`  postRenderers:
  - kustomize:
      patchesStrategicMerge:
      - kind: ConfigMap
        apiVersion: v1
        metadata: {name: web-config}
        data: {merged: "yes"}
      patchesJson6902:
      - target: {kind: ConfigMap, name: web-config}
        patch: [{op: remove, path: /data/text}]
`), "/v2\n", "/v2beta1\n", 1)}
	r := workloadRelease(t, "", Options{}, files)
	if diff := cmp.Diff(map[string]any{"merged": "yes"}, dataIn(t, render(t, r).Stream)); diff != "" {
		t.Error(diff)
	}
}

func TestPostRenderStrategy(t *testing.T) {
	for _, test := range []struct {
		name, spec, option string
		streams            int
		hook               bool
	}{
		{"combined by default", "", "", 1, true},
		{"of the release", "  postRenderStrategy: separate\n", "", 2, true},
		{"of the cluster", "", "nohooks", 1, false},
		{"of the release over the cluster's", "  postRenderStrategy: combined\n", "nohooks", 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rendered := render(t, workloadRelease(t, test.spec, Options{PostRenderStrategy: test.option}))
			if len(rendered.Streams) != test.streams {
				t.Errorf("%d streams, want %d", len(rendered.Streams), test.streams)
			}
			if hook := objectIn(t, rendered.Stream, "ConfigMap", "hook") != nil; hook != test.hook {
				t.Errorf("hook in the stream: %v, want %v", hook, test.hook)
			}
			if objectIn(t, rendered.Stream, "Deployment", "web") == nil {
				t.Error("no Deployment in the stream")
			}
		})
	}
	wantError(t, workloadRelease(t, "  postRenderStrategy: all\n", Options{}), "HelmRelease apps/web", "spec.postRenderStrategy", "combined")
	if _, err := Load(nil, Options{PostRenderStrategy: "all"}); err == nil {
		t.Error("the strategy all is taken")
	}
}

func TestWhatKustomizeRefusesIsNamed(t *testing.T) {
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twin, namespace: prod}\n"
	for _, test := range []struct {
		name, template string
		parts          []string
	}{
		{"an object twice", object + "---\n" + object, []string{"the chart renders ConfigMap twin twice: ConfigMap prod/twin (", "web/templates/twin.yaml", "it is the chart"}},
		{"an object in default and in no namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twin, namespace: default}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: twin}\n",
			[]string{"the chart renders ConfigMap twin twice: ConfigMap ", "ConfigMap default/twin (", "without a namespace", "it is the chart"}},
		{"a key twice", object + "data:\n  a: hunter2\n  a: hunter2\n", []string{"the chart gives a key twice in ConfigMap prod/twin", "web/templates/twin.yaml", `"a"`, "it is the chart"}},
		{"an anchor of another item of a List", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: one}\n  data: &data {a: b}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: two}\n  data: *data\n",
			[]string{"anchor &data", "ConfigMap two (web/templates/twin.yaml)", "it is the chart"}},
		{"no name", "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n", []string{"ConfigMap (web/templates/twin.yaml)", "it is the chart"}},
		{"no kind", "a: b\n", []string{"web/templates/twin.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := workloadRelease(t, "", Options{}, map[string]string{"charts/web/templates/twin.yaml": test.template})
			wantError(t, r, append(test.parts, "HelmRelease apps/web")...)
		})
	}
	r := workloadRelease(t, "  postRenderers:\n  - kustomize: {patches: [{patch: 'nonsense'}]}\n", Options{})
	wantError(t, r, "HelmRelease apps/web", "spec.postRenderers[0]")
}

func TestTheClockInTemplates(t *testing.T) {
	for template, asks := range map[string]bool{
		`{{ now | date "15:04:05" }}`:                                   true,
		`{{ now.Weekday }}`:                                             true,
		`{{ date "2006" "no time" }}`:                                   true,
		`{{ htmlDate nil }}`:                                            true,
		`{{ tpl "{{ now | unixEpoch }}" . }}`:                           true,
		`{{ ago 0 }}`:                                                   true,
		`{{ date "2006-01-02" 0 }}`:                                     false,
		`{{ dateInZone "2006" (toDate "2006" "2020") "UTC" }}`:          false,
		`now {{/* now | date */}} {{ "now" }}`:                          false,
		`{{ htmlDateInZone (toDate "2006-01-02" "2020-02-03") "UTC" }}`: false,
	} {
		r := workloadRelease(t, "", Options{}, map[string]string{
			"charts/web/templates/clock.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: clock}\ndata:\n  time: '" + template + "'\n",
		})
		first := render(t, r)
		again, err := r.RenderAgain(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if first.ChartHasClock != asks {
			t.Errorf("%s: clock %v, want %v", template, first.ChartHasClock, asks)
		}
		differ := dataIn(t, first.Stream, "clock")["time"] != dataIn(t, again.Stream, "clock")["time"]
		if differ != asks {
			t.Errorf("%s: differs when rendered again: %v, want %v", template, differ, asks)
		}
	}
}

func TestCapabilities(t *testing.T) {
	chart := map[string]string{
		"charts/web/Chart.yaml":          "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>=1.30.0-0'\n",
		"charts/web/templates/caps.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: caps}\ndata:\n  version: {{ .Capabilities.KubeVersion.Version | quote }}\n  has: '{{ .Capabilities.APIVersions.Has \"example.com/v1\" }}'\n",
	}
	r := workloadRelease(t, "", Options{KubeVersion: "1.34.2", APIVersions: []string{"example.com/v1"}}, chart)
	if diff := cmp.Diff(map[string]any{"version": "v1.34.2", "has": "true"}, dataIn(t, render(t, r).Stream, "caps")); diff != "" {
		t.Error(diff)
	}
	wantError(t, workloadRelease(t, "", Options{KubeVersion: "1.20.0"}, chart), "kubeVersion", "--kube-version")
	wantError(t, workloadRelease(t, "", Options{KubeVersion: "new"}, chart), `kube version "new"`)
}

func TestTemplateErrorsNameTheRelease(t *testing.T) {
	r := workloadRelease(t, "", Options{}, map[string]string{"charts/web/templates/x.yaml": "{{ fail \"set a password\" }}"})
	wantError(t, r, "HelmRelease apps/web", "can't be rendered", "web/templates/x.yaml", "set a password")
}

func TestSchemaValidationFollowsTheRelease(t *testing.T) {
	schema := map[string]string{"charts/web/values.schema.json": `{"properties": {"count": {"type": "integer"}}}`}
	values := "  values: {count: text}\n"
	wantError(t, workloadRelease(t, values, Options{}, schema), "HelmRelease apps/web", "schema")
	render(t, workloadRelease(t, values+"  upgrade: {disableSchemaValidation: true}\n", Options{}, schema))
}
