package overlay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/internal/release"
)

// A Build is a kustomization with what it builds, our own patches left out.
type Build struct {
	Dir    string // as the user gave it
	Stream []byte // what it builds

	root     string // absolute
	file     string // the kustomization's file
	content  []byte
	releases []*helmrelease.Release // those of Stream
	inner    []*helmrelease.Release // the same as a patch in this kustomization meets them
}

// New builds the kustomization in dir.
func New(dir string) (*Build, error) {
	root, err := filepath.Abs(dir)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	b := &Build{Dir: dir, root: root}
	if b.file, b.content, err = readKustomization(root); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: it has no kustomization.yaml (Flux generates one then, from all files as they are): stamp the files themselves, without --kustomization", dir)
		}
		return nil, err
	}
	// What the kustomization does after its patches is left out in the second build, so
	// that the names are those by which a patch has to call the releases.
	if b.Stream, b.releases, err = b.build(nil, "sortOptions"); err != nil {
		return nil, err
	}
	if _, b.inner, err = b.build(nil, "sortOptions", "namespace", "namePrefix", "nameSuffix"); err != nil {
		return nil, err
	}
	if len(b.inner) != len(b.releases) {
		return nil, fmt.Errorf("%s: setting names and namespaces changes the number of its HelmReleases from %d to %d", dir, len(b.inner), len(b.releases))
	}
	return b, nil
}

// build builds with files in place of those on disk and without our patches, if files is
// nil, and without the given fields.
func (b *Build) build(files map[string][]byte, without ...string) ([]byte, []*helmrelease.Release, error) {
	if files == nil {
		var fields map[string]any
		if err := yaml.Unmarshal(b.content, &fields); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", b.file, err)
		}
		for _, f := range without {
			delete(fields, f)
		}
		patches, _ := fields["patches"].([]any)
		fields["patches"] = slices.DeleteFunc(patches, func(p any) bool {
			m, _ := p.(map[string]any)
			path, _ := m["path"].(string)
			return helmrelease.IsPatchFile(path)
		})
		content, err := yaml.Marshal(fields)
		if err != nil {
			return nil, nil, err
		}
		files = map[string][]byte{b.file: content}
	}
	stream, err := release.BuildKustomization(layered{filesys.MakeFsOnDisk(), files}, b.root)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: kustomize can't build it: %w", b.Dir, err)
	}
	f, err := helmrelease.Parse(stream)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", b.Dir, err)
	}
	return stream, f.Releases(), nil
}

// layered is a file system with some files' contents replaced.
type layered struct {
	filesys.FileSystem
	files map[string][]byte
}

func (l layered) ReadFile(path string) ([]byte, error) {
	if content, ok := l.files[filepath.Clean(path)]; ok {
		return content, nil
	}
	return l.FileSystem.ReadFile(path)
}

// Releases are the HelmReleases of the stream, in its order.
func (b *Build) Releases() []*helmrelease.Release { return b.releases }

// PatchFile is the name of the file with the patch for the release with that index. One
// JSON 6902 patch is one file to kustomize, so several releases have one each.
func (b *Build) PatchFile(i int) string {
	if len(b.releases) == 1 {
		return helmrelease.PatchFile
	}
	name := b.releases[i].Name
	if ns := b.releases[i].Namespace; ns != "" {
		name = ns + "." + name
	}
	return "helm-checksum." + name + ".yaml"
}

// Have are the entries of ours that the release with that index gets from DIR as it is.
func (b *Build) Have(i int) ([]any, error) {
	name := b.PatchFile(i)
	if !b.lists(name) {
		return nil, nil
	}
	content, err := os.ReadFile(filepath.Join(b.root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := helmrelease.PatchEntries(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(b.Dir, name), err)
	}
	return entries, nil
}

func (b *Build) lists(name string) bool {
	var k kustomization
	return yaml.Unmarshal(b.content, &k) == nil &&
		slices.ContainsFunc(k.Patches, func(p patch) bool { return p.Path == name })
}

// A Change is a file to write, or to remove if Content is nil.
type Change struct {
	Path    string
	Content []byte
}

// Changes are what must be written so that each release gets its entry: entries has one
// for each of Releases, nil for a release that stays as it is. The result is checked by
// building it. It is empty when all is as it should be.
func (b *Build) Changes(entries []*helmrelease.Entry) ([]Change, error) {
	var patches []helmrelease.ReleasePatch
	var changes []Change
	files := map[string][]byte{}
	wanted := map[string]bool{}
	for i, e := range entries {
		name := b.PatchFile(i)
		path := filepath.Join(b.root, name)
		if e == nil && !b.lists(name) || e != nil && e.Empty() {
			continue
		}
		wanted[name] = true
		patches = append(patches, helmrelease.ReleasePatch{Path: name, Name: b.inner[i].Name, Namespace: b.inner[i].Namespace})
		if e == nil {
			continue
		}
		content := helmrelease.PatchText(b.inner[i].PostRenderers(), *e)
		files[path] = content
		if old, err := os.ReadFile(path); err != nil || !helmrelease.SamePatch(old, content) {
			changes = append(changes, Change{filepath.Join(b.Dir, name), content})
		}
	}
	kustomization, err := helmrelease.SetPatches(b.content, patches)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.file, err)
	}
	if string(kustomization) != string(b.content) {
		changes = append(changes, Change{filepath.Join(b.Dir, filepath.Base(b.file)), kustomization})
	}
	files[b.file] = kustomization
	_, built, err := b.build(files)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		at := slices.IndexFunc(built, func(r *helmrelease.Release) bool {
			return r.Name == b.releases[i].Name && r.Namespace == b.releases[i].Namespace
		})
		if e != nil && (at < 0 || !built[at].Current(*e)) {
			return nil, fmt.Errorf("%s: HelmRelease %s does not get its stamps when it is built; does a later transformer change spec.postRenderers?", b.Dir, b.releases[i].Name)
		}
	}
	stale, err := b.stale(wanted)
	return append(changes, stale...), err
}

// stale are files of ours that nothing uses any more.
func (b *Build) stale(wanted map[string]bool) ([]Change, error) {
	names, err := os.ReadDir(b.root)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, n := range names {
		if !helmrelease.IsPatchFile(n.Name()) || wanted[n.Name()] {
			continue
		}
		content, err := os.ReadFile(filepath.Join(b.root, n.Name()))
		if err != nil {
			return nil, err
		}
		if entries, err := helmrelease.PatchEntries(content); err == nil && len(entries) > 0 {
			changes = append(changes, Change{Path: filepath.Join(b.Dir, n.Name())})
		}
	}
	return changes, nil
}
