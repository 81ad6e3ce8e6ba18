package release

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// checkout writes files into a directory that looks like a Git checkout.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// webChart is a chart whose ConfigMap shows what a chart sees.
func webChart(version string) map[string]string {
	return map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: web\nversion: " + version + "\n",
		"values.yaml": "greeting: from values.yaml\nreplicas: 1\n",
		"prod.yaml":   "greeting: from prod.yaml\n",
		"templates/config.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  values: {{ .Values | toJson | quote }}
  namespace: {{ .Release.Namespace }}
  chart: {{ .Chart.Version | quote }}
`,
	}
}

// under puts files into a directory.
func under(dir string, files map[string]string) map[string]string {
	moved := map[string]string{}
	for name, content := range files {
		moved[dir+"/"+name] = content
	}
	return moved
}

func merged(maps ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, m := range maps {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// helmRelease is a HelmRelease named web in the namespace apps; spec is indented by two.
func helmRelease(spec string) string {
	return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: web\n  namespace: apps\nspec:\n" + spec
}

const localChart = `  chart:
    spec:
      chart: charts/web
      sourceRef: {kind: GitRepository, name: repo}
`

// only loads a checkout's only release.
func only(t *testing.T, dir string, o Options) *Release {
	t.Helper()
	if o.CacheDir == "" {
		o.CacheDir = t.TempDir()
	}
	s, err := Load([]string{dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Problems() {
		t.Errorf("problem: %v", p)
	}
	if len(s.Releases()) != 1 {
		t.Fatalf("%d releases, want 1", len(s.Releases()))
	}
	return s.Releases()[0]
}

func render(t *testing.T, r *Release) *Rendered {
	t.Helper()
	rendered, err := r.Render(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// dataIn returns the data of the ConfigMap web-config, or of another.
func dataIn(t *testing.T, stream []byte, names ...string) map[string]any {
	t.Helper()
	name := "web-config"
	if len(names) > 0 {
		name = names[0]
	}
	for _, d := range splitDocuments(stream) {
		content, err := parseDocument(d.text)
		if err != nil {
			t.Fatal(err)
		}
		if o := newObject(content); o.kind == "ConfigMap" && o.name == name {
			data, _ := content["data"].(map[string]any)
			return data
		}
	}
	t.Fatalf("no ConfigMap %s in\n%s", name, stream)
	return nil
}

// valuesSeen returns the values that the chart saw.
func valuesSeen(t *testing.T, r *Release) map[string]any {
	t.Helper()
	text, _ := dataIn(t, render(t, r).Stream)["values"].(string)
	var values map[string]any
	if err := yaml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// wantError checks that a render fails and that the message has all parts.
func wantError(t *testing.T, r *Release, parts ...string) {
	t.Helper()
	_, err := r.Render(context.Background())
	if err == nil {
		t.Fatalf("rendered; want an error with %q", parts)
	}
	hasParts(t, err, parts...)
}

func hasParts(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q\nhas no %q", err, part)
		}
	}
}
