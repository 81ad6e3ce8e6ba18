package overlay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverlaysAreWhatChangesReleases(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"base/kustomization.yaml":      "namespace: prod\nresources: [release.yaml]\n",
		"base/release.yaml":            "kind: HelmRelease\n",
		"staging/kustomization.yaml":   "resources: [../base]\npatches: [{path: p.yaml}]\n",
		"staging/p.yaml":               "kind: HelmRelease\n",
		"renamed/kustomization.yaml":   "resources: [../base]\nnamePrefix: new-\n",
		"all/kustomization.yaml":       "resources: [../base, ../plain]\n",
		"outer/kustomization.yaml":     "resources: [../all]\nnamespace: elsewhere\n",
		"plain/kustomization.yml":      "resources: [release.yaml]\npatches: [{target: {kind: Namespace}, path: p.yaml}, {path: n.yaml}, {path: helm-checksum.yaml, target: {kind: HelmRelease}}]\n",
		"plain/n.yaml":                 "kind: Namespace\n",
		"own/kustomization.yaml":       "namespace: prod\nresources: [release.yaml]\npatches: [{target: {kind: Helm.*}, path: p.yaml}]\n",
		"same/kustomization.yaml":      "namespace: prod\nresources: [release.yaml]\n",
		"broken/kustomization.yaml":    "resources: [\n",
		".hidden/kustomization.yaml":   "resources: [../same]\nnamePrefix: x\n",
		"circle/kustomization.yaml":    "resources: [../circle]\nnamePrefix: x\n",
		"collects/kustomization.yaml":  "resources: [../same]\nnamespace: prod\n",
		"components/kustomization.yml": "components: [../same]\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := NewGraph(root)
	relative := func(dirs []string) []string {
		var out []string
		for _, d := range dirs {
			rel, err := filepath.Rel(root, d)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, rel)
		}
		return out
	}
	for _, c := range []struct {
		file, namespace string
		want            []string
	}{
		{"base/release.yaml", "prod", []string{"outer", "renamed", "staging"}},
		{"plain/release.yaml", "prod", []string{"outer"}},
		{"own/release.yaml", "prod", []string{"own"}},
		{"same/release.yaml", "prod", []string{"components"}},
		{"same/release.yaml", "", []string{"components"}},
		{"elsewhere/release.yaml", "prod", nil},
	} {
		if d := cmp.Diff(c.want, relative(g.BuiltBy(filepath.Join(root, c.file), c.namespace))); d != "" {
			t.Errorf("%s: %s", c.file, d)
		}
	}
	if d := cmp.Diff([]string{"circle"}, relative(g.Overlays(filepath.Join(root, "circle")))); d != "" {
		t.Error(d)
	}
}
