package release

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// A Set is what was found under the paths: HelmReleases, and the objects they refer to.
// Its methods and those of its releases are safe for concurrent use.
type Set struct {
	options  Options
	releases []*Release
	files    []File
	problems []error
	broken   map[string]bool // the files that problems are about

	named *index // the objects under the paths or in the stream

	mu    sync.Mutex
	roots map[string]*index // the objects of a whole Git repository, by its root

	downloads *downloads
}

// Load reads the HelmReleases in files and under directories, hidden directories and
// charts left out, and the objects that they may refer to. A file that can't be read is
// one of Problems and hides no other; the error is about the paths and options themselves.
func Load(paths []string, o Options) (*Set, error) {
	s, err := newSet(o)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, p := range paths {
		names, err := yamlFiles(p)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[filepath.Clean(name)] {
				continue
			}
			seen[filepath.Clean(name)] = true
			content, err := os.ReadFile(name)
			if err != nil {
				s.problem(name, err)
				continue
			}
			s.read(name, content)
		}
	}
	return s, nil
}

// LoadStream reads the HelmReleases of a stream, such as the output of kustomize build,
// and the objects in it. What is not in the stream is looked for in the Git repository
// that holds dir.
func LoadStream(name string, stream []byte, dir string, o Options) (*Set, error) {
	s, err := newSet(o)
	if err != nil {
		return nil, err
	}
	s.read(name, stream)
	for _, r := range s.releases {
		r.dir = dir
	}
	return s, nil
}

func newSet(o Options) (*Set, error) {
	if err := checkVars(o.Vars); err != nil {
		return nil, err
	}
	if _, err := strategyOf(o.PostRenderStrategy); err != nil {
		return nil, err
	}
	for key := range o.ValuesFrom {
		if _, _, ok := cutKindKey(key); !ok {
			return nil, fmt.Errorf("values from %q: want KIND/NAME, with ConfigMap or Secret for KIND", key)
		}
	}
	return &Set{options: o, named: newIndex(), broken: map[string]bool{}, roots: map[string]*index{}, downloads: newDownloads(o)}, nil
}

// Releases returns the HelmReleases in the order of paths, files and documents.
func (s *Set) Releases() []*Release { return s.releases }

// Files returns the files that hold HelmReleases, as they were read, in order.
func (s *Set) Files() []File { return s.files }

// Problems are the files and documents that can't be read and may hold a HelmRelease.
func (s *Set) Problems() []error { return s.problems }

// Broken says whether a problem is about this file, as Files names it.
func (s *Set) Broken(path string) bool { return s.broken[path] }

func (s *Set) problem(path string, err error) {
	s.problems = append(s.problems, err)
	s.broken[path] = true
}

// read takes the objects of one file.
func (s *Set) read(name string, content []byte) {
	before := len(s.releases)
	if isKustomization(name) {
		s.named.addGenerated(name, content)
	}
	for _, d := range splitDocuments(content) {
		if !mayMatter(d.text) {
			continue
		}
		m, err := parseDocument(d.text)
		if err != nil {
			if bytes.Contains(d.text, []byte(helmReleaseKind)) && !errors.Is(err, errNotAnObject) {
				s.problem(name, fmt.Errorf("%s: document %d, line %d: %w", name, d.number, d.line, err))
			}
			s.named.unreadable = append(s.named.unreadable, name)
			continue
		}
		for _, o := range parseObjects(name, d, m) {
			s.take(o)
		}
	}
	if len(s.releases) > before {
		s.files = append(s.files, File{Path: name, Content: content})
	}
}

func (s *Set) take(o *object) {
	inFile := o.content
	content, err := substitute(inFile, s.options.Vars)
	if err != nil {
		if isHelmRelease(o) {
			s.problem(o.path, fmt.Errorf("%s: HelmRelease %s: %w", o.place(), o.name, err))
		}
		return
	}
	substituted := newObject(content)
	o.content, o.name, o.namespace = content, substituted.name, substituted.namespace
	if ns := namespaceFor(o.path); ns != "" {
		o.namespace = ns
	}
	if isHelmRelease(o) {
		r, err := newRelease(s, o)
		if err != nil {
			s.problem(o.path, fmt.Errorf("%s: %w", o.place(), err))
			return
		}
		s.releases = append(s.releases, r)
		return
	}
	s.named.add(o)
}

const (
	helmReleaseKind  = "HelmRelease"
	helmReleaseGroup = "helm.toolkit.fluxcd.io"
)

func isHelmRelease(o *object) bool {
	return o.kind == helmReleaseKind && o.group() == helmReleaseGroup
}

// mayMatter says, from the text alone, whether a document can hold something of interest.
func mayMatter(text []byte) bool {
	if bytes.Contains(text, []byte(helmReleaseKind)) {
		return true
	}
	for kind := range indexedKinds {
		if bytes.Contains(text, []byte(kind)) {
			return true
		}
	}
	return false
}

// yamlFiles lists a file, or the YAML and JSON files under a directory, sorted.
func yamlFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != path && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
				return fs.SkipDir
			}
			if isChart(name) { // its YAML is templates and values, not objects
				return fs.SkipDir
			}
			return nil
		}
		switch strings.ToLower(filepath.Ext(name)) {
		case ".yaml", ".yml", ".json":
			if entry.Type().IsRegular() || entry.Type()&fs.ModeSymlink != 0 && isFile(name) {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

func isChart(dir string) bool { return isFile(filepath.Join(dir, "Chart.yaml")) }

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// gitRoot returns the directory of the checkout that holds dir, or "".
func gitRoot(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		// A file in worktrees and submodules, else a directory.
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// root returns the objects of the Git repository that holds dir, read at first need.
// Files there that can't be read are passed over: they need not be Kubernetes objects.
func (s *Set) root(dir string) *index {
	root := gitRoot(dir)
	if root == "" {
		return newIndex()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ix, ok := s.roots[root]; ok {
		return ix
	}
	ix := newIndex()
	s.roots[root] = ix
	names, _ := yamlFiles(root)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		ix.read(relative(name), content, s.options.Vars)
	}
	return ix
}

// relative shortens an absolute name for messages, where it is below the working directory.
func relative(name string) string {
	wd, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(wd, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}

// A kustomization is what is read of a kustomization.yaml.
type kustomization struct {
	Namespace             string           `json:"namespace"`
	Resources             []string         `json:"resources"`
	Bases                 []string         `json:"bases"`
	Components            []string         `json:"components"`
	Patches               []map[string]any `json:"patches"`
	PatchesStrategicMerge []string         `json:"patchesStrategicMerge"`
	PatchesJSON6902       []map[string]any `json:"patchesJson6902"`
	ConfigMapGenerator    []map[string]any `json:"configMapGenerator"`
	SecretGenerator       []map[string]any `json:"secretGenerator"`
	GeneratorOptions      map[string]any   `json:"generatorOptions"`
}

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

func isKustomization(name string) bool {
	return slices.Contains(kustomizationNames, filepath.Base(name))
}

// kustomizationOf reads the kustomization of a directory; ok is false when there is none.
func kustomizationOf(dir string) (k kustomization, ok bool) {
	for _, name := range kustomizationNames {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		return k, yaml.Unmarshal(content, &k) == nil
	}
	return k, false
}

// namespaceFor returns the namespace that the kustomization beside a file gives to the
// objects in it, or "".
func namespaceFor(name string) string {
	k, ok := kustomizationOf(filepath.Dir(name))
	if !ok || k.Namespace == "" {
		return ""
	}
	for _, resource := range k.Resources {
		if filepath.Clean(resource) == filepath.Base(name) {
			return k.Namespace
		}
	}
	return ""
}
