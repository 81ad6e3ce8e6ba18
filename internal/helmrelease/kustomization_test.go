package helmrelease

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetPatchesChangesOnlyOurs(t *testing.T) {
	const target = "\n  target: {group: helm\\.toolkit\\.fluxcd\\.io, kind: HelmRelease, name: web, namespace: prod}\n"
	const indented = "\n    target: {group: helm\\.toolkit\\.fluxcd\\.io, kind: HelmRelease, name: web, namespace: prod}\n"
	for _, c := range []struct{ name, in, want string }{
		{
			"no patches",
			"# mine\nresources: [a.yaml] # all\n",
			"# mine\nresources: [a.yaml] # all\npatches:\n  - path: helm-checksum.yaml" + indented,
		},
		{
			"zero-indented",
			"resources:\n- a.yaml\npatches:\n- path: b.yaml # keep\nnamespace: x\n",
			"resources:\n- a.yaml\npatches:\n- path: b.yaml # keep\n- path: helm-checksum.yaml" + target + "namespace: x\n",
		},
		{
			"empty",
			"resources: [a.yaml]\npatches: []\n",
			"resources: [a.yaml]\npatches:\n  - path: helm-checksum.yaml" + indented,
		},
		{
			"flow",
			`{resources: [a.yaml], patches: [{path: b.yaml}]}` + "\n",
			`{resources: [a.yaml], patches: [{path: b.yaml}, {"path":"helm-checksum.yaml","target":{"group":"helm\\.toolkit\\.fluxcd\\.io","kind":"HelmRelease","name":"web","namespace":"prod"}}]}` + "\n",
		},
		{
			"ours in the middle, for another release",
			"patches:\n  - path: helm-checksum.yaml\n    target: {kind: HelmRelease}\n  - path: b.yaml\n",
			"patches:\n  - path: b.yaml\n  - path: helm-checksum.yaml" + indented,
		},
		{
			"several that are not wanted any more",
			"patches:\n  - path: b.yaml\n  - path: helm-checksum.x.a.yaml\n  - path: helm-checksum.x.b.yaml\n",
			"patches:\n  - path: b.yaml\n  - path: helm-checksum.yaml" + indented,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours := []ReleasePatch{{Path: PatchFile, Name: "web", Namespace: "prod"}}
			got, err := SetPatches([]byte(c.in), ours)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Fatal(d)
			}
			again, err := SetPatches(got, ours)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(got), string(again)); d != "" {
				t.Errorf("a second time changed it:\n%s", d)
			}
			none, err := SetPatches(got, nil)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(none), PatchFile) {
				t.Errorf("it is still listed:\n%s", none)
			}
		})
	}
}

func TestSetPatchesRefusesWhatIsNoKustomization(t *testing.T) {
	for _, in := range []string{"", "- a\n", "a: b\n---\nc: d\n", "a: [\n"} {
		if _, err := SetPatches([]byte(in), []ReleasePatch{{Path: PatchFile, Name: "web"}}); err == nil {
			t.Errorf("%q is no error", in)
		}
	}
}

func TestAnchorThatIsUsedElsewhereIsAnError(t *testing.T) {
	const src = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web}
spec:
  postRenderers: &all
    - kustomize: {images: [{name: a, newTag: b}]}
  values: {copy: *all}
`
	f, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Releases()[0].Set(example); err != nil {
		t.Fatal(err)
	}
	if out, err := f.Bytes(); err == nil || !strings.Contains(err.Error(), "anchor") {
		t.Errorf("error %v\n%s", err, out)
	}
}

func TestEntriesThatAreNotOurs(t *testing.T) {
	patch := func(text string) any {
		return map[string]any{"kustomize": map[string]any{"patches": []any{map[string]any{
			"target": map[string]any{"kind": "Deployment"}, "patch": text}}}}
	}
	for name, entry := range map[string]any{
		"nothing":              nil,
		"no patches":           map[string]any{"kustomize": map[string]any{"patches": []any{}}},
		"images":               map[string]any{"kustomize": map[string]any{"images": []any{}, "patches": []any{}}},
		"a control":            patch("spec: {template: {metadata: {annotations: {helm-checksum/skip: 'true'}}}}"),
		"another annotation":   patch("spec: {template: {metadata: {annotations: {helm-checksum/configmap.a: '1', b: c}}}}"),
		"a label too":          patch("spec: {template: {metadata: {labels: {a: b}, annotations: {helm-checksum/configmap.a: '1'}}}}"),
		"replicas too":         patch("spec: {replicas: 1, template: {metadata: {annotations: {helm-checksum/configmap.a: '1'}}}}"),
		"on the object itself": patch("metadata: {annotations: {helm-checksum/configmap.a: '1'}}"),
		"a deletion":           patch("$patch: delete"),
		"JSON 6902, elsewhere": patch("- {op: add, path: /spec/replicas, value: 1}"),
		"JSON 6902, a test":    patch("- {op: test, path: /spec/template/metadata/annotations/helm-checksum~1configmap.a, value: x}"),
		"JSON 6902, all of it": patch("- {op: add, path: /spec/template/metadata, value: {labels: {a: b}}}"),
		"no YAML":              patch("a: ["),
	} {
		t.Run(name, func(t *testing.T) {
			if IsOurs(entry) {
				t.Error("it is taken for ours")
			}
		})
	}
	if !IsOurs(example.Value()) {
		t.Error("our own is not taken for ours")
	}
}

func TestWriteFileKeepsTheModeAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(file, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil || string(content) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v", content, info.Mode(), err)
	}
	if err := WriteFile(filepath.Join(dir, "absent", "a.yaml"), nil); err == nil {
		t.Error("a directory that is not there is no error")
	}
	// A directory in the file's place can't be replaced; what was begun is taken away.
	if err := os.MkdirAll(filepath.Join(dir, "taken", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(filepath.Join(dir, "taken"), nil); err == nil {
		t.Error("a directory was replaced")
	}
	names, err := os.ReadDir(dir)
	if err != nil || len(names) != 2 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}
