// Package overlay knows the base-and-overlay layout: which kustomizations build on which
// directories, what a HelmRelease is once they are built, and how its stamps come in there.
package overlay

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
)

// A Graph says which kustomizations under a root use which files and directories.
type Graph struct {
	kustomizations map[string]kustomization // by directory
	users          map[string][]string      // a file or directory -> directories of kustomizations
}

// kustomization is what is looked at of a kustomization file. Any other field that changes
// what it is given is in transforming.
type kustomization struct {
	dir       string
	Resources []string `json:"resources"`
	Bases     []string `json:"bases"`
	Namespace string   `json:"namespace"`
	Patches   []patch  `json:"patches"`
	JSON6902  []patch  `json:"patchesJson6902"`
	Merge     []string `json:"patchesStrategicMerge"`

	fields map[string]any
}

type patch struct {
	Path   string `json:"path"`
	Patch  any    `json:"patch"`
	Target *struct {
		Kind string `json:"kind"`
	} `json:"target"`
}

// transforming are the fields by which a kustomization changes HelmReleases, whatever is in them.
var transforming = []string{"namePrefix", "nameSuffix", "replacements", "transformers", "vars", "components"}

// NewGraph reads the kustomizations under root, an absolute directory. One that can't be
// read is passed over: building it will say why.
func NewGraph(root string) *Graph {
	g := &Graph{kustomizations: map[string]kustomization{}, users: map[string][]string{}}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if path != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		_, content, err := readKustomization(path)
		if err != nil {
			return nil
		}
		k := kustomization{dir: path}
		if yaml.Unmarshal(content, &k) != nil || yaml.Unmarshal(content, &k.fields) != nil {
			return nil
		}
		g.kustomizations[path] = k
		components, _ := k.fields["components"].([]any)
		used := slices.Concat(k.Resources, k.Bases)
		for _, c := range components {
			if s, ok := c.(string); ok {
				used = append(used, s)
			}
		}
		for _, u := range used {
			u = filepath.Join(path, filepath.FromSlash(u))
			g.users[u] = append(g.users[u], path)
		}
		return nil
	})
	return g
}

// readKustomization reads the kustomization file of a directory.
func readKustomization(dir string) (path string, content []byte, err error) {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		path = filepath.Join(dir, name)
		if content, err = os.ReadFile(path); err == nil {
			return path, content, nil
		}
	}
	return "", nil, err
}

// BuiltBy returns the directories of the kustomizations to stamp in place of a file: those
// that change the HelmReleases of namespace in it on the way to the cluster. Without any,
// the file's own text is what the cluster gets.
func (g *Graph) BuiltBy(file, namespace string) []string {
	var dirs []string
	for _, dir := range g.users[file] {
		k := g.kustomizations[dir]
		if overlays := g.Overlays(dir); len(overlays) > 0 {
			dirs = append(dirs, overlays...)
		} else if k.transforms() || k.Namespace != "" && k.Namespace != namespace {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Overlays returns the directories of the outermost kustomizations that build on dir and
// change its HelmReleases. A kustomization that only collects others is none.
func (g *Graph) Overlays(dir string) []string { return g.overlays(dir, map[string]bool{}) }

func (g *Graph) overlays(dir string, seen map[string]bool) []string {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	var dirs []string
	for _, user := range g.users[dir] {
		k := g.kustomizations[user]
		outer := g.overlays(user, seen)
		switch {
		case len(outer) > 0:
			dirs = append(dirs, outer...)
		case k.transforms() || k.Namespace != "" && k.Namespace != g.kustomizations[dir].Namespace:
			dirs = append(dirs, user)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// transforms says whether a kustomization changes HelmReleases but for their namespace.
func (k kustomization) transforms() bool {
	for _, f := range transforming {
		switch v := k.fields[f].(type) {
		case nil:
		case []any:
			if len(v) > 0 {
				return true
			}
		default:
			if v != "" {
				return true
			}
		}
	}
	for _, p := range slices.Concat(k.Patches, k.JSON6902) {
		if k.patches(p) {
			return true
		}
	}
	return slices.ContainsFunc(k.Merge, func(p string) bool { return k.patches(patch{Path: p}) })
}

// patches says whether a patch may be one for a HelmRelease; our own are none.
func (k kustomization) patches(p patch) bool {
	if helmrelease.IsPatchFile(p.Path) {
		return false
	}
	if p.Target != nil && p.Target.Kind != "" {
		re, err := regexp.Compile("^(?:" + p.Target.Kind + ")$")
		return err != nil || re.MatchString("HelmRelease")
	}
	if p.Target != nil {
		return true
	}
	if text, ok := p.Patch.(string); ok && text != "" {
		return strings.Contains(text, "HelmRelease")
	}
	content, err := os.ReadFile(filepath.Join(k.dir, p.Path))
	return err == nil && bytes.Contains(content, []byte("HelmRelease"))
}
