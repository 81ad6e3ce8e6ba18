package release

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// indexedKinds are the kinds that a HelmRelease leads to, and those that make a Secret
// in the cluster and so explain why there is none in Git; with their API groups.
var indexedKinds = map[string]string{
	"ConfigMap":        "",
	"Secret":           "",
	"GitRepository":    "source.toolkit.fluxcd.io",
	"Bucket":           "source.toolkit.fluxcd.io",
	"HelmRepository":   "source.toolkit.fluxcd.io",
	"OCIRepository":    "source.toolkit.fluxcd.io",
	"HelmChart":        "source.toolkit.fluxcd.io",
	"ExternalArtifact": "source.toolkit.fluxcd.io",
	"SealedSecret":     "bitnami.com",
	"ExternalSecret":   "external-secrets.io",
}

// An index finds objects by kind and name.
type index struct {
	objects    map[string][]*object
	unreadable []string // files with documents that are no YAML
}

func newIndex() *index { return &index{objects: map[string][]*object{}} }

func (ix *index) add(o *object) {
	group, ok := indexedKinds[o.kind]
	if !ok || group != o.group() || o.name == "" {
		return
	}
	key := o.kind + "/" + o.name
	ix.objects[key] = append(ix.objects[key], o)
}

// read takes the objects of one file; what can't be read is passed over.
func (ix *index) read(name string, content []byte, vars map[string]string) {
	if isKustomization(name) {
		ix.addGenerated(name, content)
	}
	for _, d := range splitDocuments(content) {
		if !mayMatter(d.text) {
			continue
		}
		m, err := parseDocument(d.text)
		if err != nil {
			continue
		}
		for _, o := range parseObjects(name, d, m) {
			if content, err := substitute(o.content, vars); err == nil {
				s := newObject(content)
				o.content, o.name, o.namespace = content, s.name, s.namespace
			}
			if ns := namespaceFor(o.path); ns != "" {
				o.namespace = ns
			}
			ix.add(o)
		}
	}
}

// errNotFound is wrapped by what find returns when there is no such object.
var errNotFound = errors.New("not found")

// An ambiguousError says that several objects fit equally well.
type ambiguousError struct{ places []string }

func (e *ambiguousError) Error() string {
	return "is there more than once (" + strings.Join(e.places, "; ") + ")"
}

// find returns the object of a kind, namespace and name that a release at path means:
// one with that very namespace before one whose namespace is not known, and among those
// the one that is nearest in the directory tree.
func (ix *index) find(kind, namespace, name, path string) (*object, error) {
	var best []*object
	bestRank := -1
	for _, o := range ix.objects[kind+"/"+name] {
		if namespace != "" && o.namespace != "" && namespace != o.namespace {
			continue
		}
		rank := nearness(o.path, path)
		if o.namespace == namespace {
			rank += 1 << 16
		}
		if rank > bestRank {
			best, bestRank = nil, rank
		}
		if rank == bestRank {
			best = append(best, o)
		}
	}
	if len(best) == 0 {
		return nil, errNotFound
	}
	for _, o := range best[1:] {
		if !reflect.DeepEqual(o.content, best[0].content) || o.unusable != best[0].unusable {
			var places []string
			for _, o := range best {
				places = append(places, o.place())
			}
			return nil, &ambiguousError{places: places}
		}
	}
	return best[0], nil
}

// nearness counts the directories that two files share, from the top, more for one file.
func nearness(a, b string) int {
	if a == b {
		return 1 << 15
	}
	as, bs := directories(a), directories(b)
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return n
}

func directories(name string) []string {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	return strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
}

// find looks for an object under the paths, then in the Git repository that holds the release.
func (r *Release) find(kind, namespace, name string) (*object, error) {
	o, err := r.set.named.find(kind, namespace, name, r.Path)
	if err == nil || !errors.Is(err, errNotFound) {
		return o, err
	}
	return r.set.root(r.dir).find(kind, namespace, name, r.place())
}

// missingReason says why there is no such object, as far as it can be known.
func (r *Release) missingReason(kind, namespace, name string) string {
	if kind == "Secret" {
		for _, maker := range []string{"SealedSecret", "ExternalSecret"} {
			if o, err := r.find(maker, namespace, name); err == nil {
				return fmt.Sprintf("is made in the cluster by the %s in %s", maker, o.place())
			}
		}
	}
	reason := "was not found under the paths"
	if gitRoot(r.dir) != "" {
		reason += " or in the Git repository"
	}
	if n := len(r.set.named.unreadable); n > 0 {
		files := slices.Compact(slices.Clone(r.set.named.unreadable))
		reason += " (" + strings.Join(files, ", ") + " can't be read)"
	}
	return reason
}

// sorted returns all objects, by kind and name.
func (ix *index) sorted() [][]*object {
	var all [][]*object
	for _, key := range slices.Sorted(maps.Keys(ix.objects)) {
		all = append(all, ix.objects[key])
	}
	return all
}
