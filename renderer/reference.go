package renderer

import (
	"slices"
	"strconv"
	"strings"
)

// A consumed is all that one pod template reads of one ConfigMap or Secret.
type consumed struct {
	object   // its namespace is empty unless helm-checksum/consumes names it
	all      bool
	keys     []string
	optional bool
	via      []string
}

// references collects what a pod template consumes: several references to one
// object are one consumption.
type references struct {
	list    []matched // each keeps the memory of its lists for the next pod template
	index   index[object]
	nowhere consumed
}

func (r *references) reset() {
	r.list = r.list[:0]
	r.index.reset()
}

// another makes a slice longer by an item. It may hold what stood there before: its memory
// is to be used again, so the caller resets it.
func another[T any](s []T) []T {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	var none T
	return append(s, none)
}

// An index gives things their number in the order of their coming. A pod has few of
// them: only from many on it takes a map.
type index[K comparable] struct {
	few  []K
	many map[K]int
}

const manyThings = 16

// reset forgets all things.
func (x *index[K]) reset() { x.few, x.many = x.few[:0], nil }

// number returns a thing's number, and whether it has come before.
func (x *index[K]) number(k K) (n int, known bool) {
	if x.many != nil {
		if n, known = x.many[k]; !known {
			n = len(x.many)
			x.many[k] = n
		}
		return n, known
	}
	if n = slices.Index(x.few, k); n >= 0 {
		return n, true
	}
	n = len(x.few)
	x.few = append(x.few, k)
	if len(x.few) > manyThings {
		x.many = make(map[K]int, 2*len(x.few))
		for i, k := range x.few {
			x.many[k] = i
		}
	}
	return n, false
}

// An object is what names a config object.
type object struct{ kind, namespace, name string }

// add takes one reference and returns the consumption that it is of, to which the caller
// adds the keys. The via may be empty.
func (r *references) add(o object, optional bool, via string) *consumed {
	if o.name == "" {
		r.nowhere = consumed{}
		return &r.nowhere // the API server refuses it; it names no object
	}
	i, known := r.index.number(o)
	if !known {
		r.list = another(r.list)
		m := &r.list[i]
		*m = matched{consumed: consumed{object: o, optional: true, keys: m.keys[:0], via: m.via[:0]}}
	}
	c := &r.list[i].consumed
	c.optional = c.optional && optional
	if via != "" {
		c.via = append(c.via, via)
	}
	return c
}

// merge takes what another consumption of the same object reads.
func (c *consumed) merge(other consumed) {
	c.all = c.all || other.all
	c.keys = append(c.keys, other.keys...)
	c.optional = c.optional && other.optional
	c.via = append(c.via, other.via...)
}

var everyKey = []string{allKeys}

// keyList returns the keys in ascending byte order, ["*"] for all. The next pod
// template's may overwrite them.
func (c *consumed) keyList() []string {
	if c.all {
		return everyKey
	}
	slices.Sort(c.keys)
	c.keys = slices.Compact(c.keys)
	return c.keys
}

// A secretVolume is a volume type that names a Secret for its driver: a row of the
// table of CONTRACT.md section 2 that is neither configMap, secret nor projected.
type secretVolume struct {
	volume string
	field  string
	named  bool // the field is the name itself, not an object with a name
}

var secretVolumes = []secretVolume{
	{"csi", "nodePublishSecretRef", false},
	{"azureFile", "secretName", true},
	{"cephfs", "secretRef", false},
	{"cinder", "secretRef", false},
	{"flexVolume", "secretRef", false},
	{"iscsi", "secretRef", false},
	{"rbd", "secretRef", false},
	{"scaleIO", "secretRef", false},
	{"storageos", "secretRef", false},
}

// A configSource is a place whose value names a config object.
type configSource struct {
	field string
	kind  string
	name  string // the field in it that holds the name
}

var (
	envSources       = []configSource{{"configMapKeyRef", configMapKind, "name"}, {"secretKeyRef", secretKind, "name"}}
	envFromSources   = []configSource{{"configMapRef", configMapKind, "name"}, {"secretRef", secretKind, "name"}}
	volumeSources    = []configSource{{"configMap", configMapKind, "name"}, {"secret", secretKind, "secretName"}}
	projectedSources = []configSource{{"configMap", configMapKind, "name"}, {"secret", secretKind, "name"}}
)

// mounts says how the containers mount one volume.
type mounts struct {
	whole bool
	keys  []string // the first segments of the subPaths
}

// podReader reads the references of one pod spec after another.
type podReader struct {
	*tree
	names   *names
	refs    *references
	vias    bool // wanted: through what a reference is
	mounts  []mounts
	volumes index[string] // by name: the number of its mounts
}

// reset makes the reader ready for a pod spec in a tree.
func (p *podReader) reset(t *tree, n *names, refs *references, vias bool) {
	p.tree, p.names, p.refs, p.vias = t, n, refs, vias
	p.mounts = p.mounts[:0]
	p.volumes.reset()
}

// template takes what the pod spec of a template consumes.
func (p *podReader) template(template int32) error {
	spec, err := p.wantMap(template, "spec")
	if err != nil || spec == 0 {
		return err
	}
	for _, field := range []string{"initContainers", "containers"} {
		list, err := p.wantList(spec, field)
		if err != nil {
			return err
		}
		if err := p.eachMap(list, func(i int, c int32) error { return p.container(field, i, c) }); err != nil {
			return err
		}
	}
	volumes, err := p.wantList(spec, "volumes")
	if err != nil {
		return err
	}
	return p.eachMap(volumes, p.volume)
}

// via joins the parts of what a reference is through; "" if no one asks for it.
func (p *podReader) via(parts ...string) string {
	if !p.vias {
		return ""
	}
	return p.names.join(parts...)
}

// label returns an item's name, its number if it has none, for via; "" if no one asks.
func (p *podReader) label(item int32, i int) (string, error) {
	name, err := p.want(item, "name", text, "a string")
	switch {
	case err != nil || !p.vias:
		return "", err
	case name == 0 || len(p.textOf(name)) == 0:
		return strconv.Itoa(i), nil
	}
	return p.named(p.textOf(name)), nil
}

func (p *podReader) container(field string, i int, c int32) error {
	label, err := p.label(c, i)
	if err != nil {
		return err
	}
	via := p.via(field, "[", label, "]")

	env, err := p.wantList(c, "env")
	if err != nil {
		return err
	}
	err = p.eachMap(env, func(i int, e int32) error {
		from, err := p.wantMap(e, "valueFrom")
		if err != nil || from == 0 {
			return err
		}
		label, err := p.label(e, i)
		if err != nil {
			return err
		}
		return p.source(from, envSources, p.via(via, ".env[", label, "]"), func(ref int32, c *consumed) error {
			key, err := p.wantString(ref, "key")
			c.keys = append(c.keys, key)
			return err
		})
	})
	if err != nil {
		return err
	}

	from, err := p.wantList(c, "envFrom")
	if err != nil {
		return err
	}
	err = p.eachMap(from, func(i int, e int32) error {
		return p.source(e, envFromSources, p.via(via, ".envFrom[", strconv.Itoa(i), "]"), wholeObject)
	})
	if err != nil {
		return err
	}

	list, err := p.wantList(c, "volumeMounts")
	if err != nil {
		return err
	}
	return p.eachMap(list, func(_ int, n int32) error {
		volume, err := p.wantString(n, "name")
		if err != nil {
			return err
		}
		subPath, err := p.wantString(n, "subPath")
		if err != nil {
			return err
		}
		m := p.mountsOf(volume)
		if key := firstSegment(subPath); key != "" {
			m.keys = append(m.keys, key)
		} else {
			m.whole = true
		}
		return nil
	})
}

// firstSegment returns the first segment of a path that names something.
func firstSegment(path string) string {
	for s := range strings.SplitSeq(path, "/") {
		if s != "" && s != "." {
			return s
		}
	}
	return ""
}

func wholeObject(_ int32, c *consumed) error {
	c.all = true
	return nil
}

// source adds what is named in one of the sources' fields of a node. The function adds
// the keys.
func (p *podReader) source(n int32, sources []configSource, via string, keys func(ref int32, c *consumed) error) error {
	for _, s := range sources {
		ref, err := p.wantMap(n, s.field)
		if err != nil {
			return err
		}
		if ref == 0 {
			continue
		}
		name, err := p.wantString(ref, s.name)
		if err != nil {
			return err
		}
		optional, err := p.wantBool(ref, "optional")
		if err != nil {
			return err
		}
		if err := keys(ref, p.refs.add(object{s.kind, "", name}, optional, via)); err != nil {
			return err
		}
	}
	return nil
}

// items adds the keys that a volume or projected source names, or else; none are all.
func (p *podReader) items(orElse []string) func(ref int32, c *consumed) error {
	return func(ref int32, c *consumed) error {
		list, err := p.wantList(ref, "items")
		if err != nil {
			return err
		}
		named := false
		err = p.eachMap(list, func(_ int, item int32) error {
			key, err := p.wantString(item, "key")
			c.keys = append(c.keys, key)
			named = true
			return err
		})
		if !named {
			c.keys = append(c.keys, orElse...)
			c.all = c.all || len(orElse) == 0
		}
		return err
	}
}

// mounted returns the keys that the mounts of a volume narrow it to: none when one
// of them mounts the whole of it, or when no container mounts it.
func (p *podReader) mounted(volume string) []string {
	if m := p.mountsOf(volume); !m.whole {
		return m.keys
	}
	return nil
}

// mountsOf returns how the containers mount a volume.
func (p *podReader) mountsOf(volume string) *mounts {
	i, known := p.volumes.number(volume)
	if !known {
		p.mounts = another(p.mounts)
		p.mounts[i] = mounts{keys: p.mounts[i].keys[:0]}
	}
	return &p.mounts[i]
}

func (p *podReader) volume(i int, v int32) error {
	name, err := p.wantString(v, "name")
	if err != nil {
		return err
	}
	label, err := p.label(v, i)
	if err != nil {
		return err
	}
	via := p.via("volumes[", label, "]")

	for i := range volumeSources {
		s := volumeSources[i : i+1]
		if p.at(v, s[0].field) == 0 {
			continue
		}
		if err := p.source(v, s, p.via(via, ".", s[0].field), p.items(p.mounted(name))); err != nil {
			return err
		}
	}
	// Of two volumes of one name, which the API server refuses, no mount tells which it means.
	p.mountsOf(name).whole = true
	projected, err := p.wantMap(v, "projected")
	if err != nil {
		return err
	}
	sources, err := p.wantList(projected, "sources")
	if err != nil {
		return err
	}
	err = p.eachMap(sources, func(i int, n int32) error {
		for j := range projectedSources {
			s := projectedSources[j : j+1]
			if p.at(n, s[0].field) == 0 {
				continue
			}
			via := p.via(via, ".projected.sources[", strconv.Itoa(i), "].", s[0].field)
			if err := p.source(n, s, via, p.items(nil)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range secretVolumes {
		n, err := p.wantMap(v, s.volume)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		name := s.field
		if !s.named {
			if n, err = p.wantMap(n, s.field); err != nil {
				return err
			}
			name = "name"
		}
		secret, err := p.wantString(n, name)
		if err != nil {
			return err
		}
		p.refs.add(object{secretKind, "", secret}, false, p.via(via, ".", s.volume, ".", s.field)).all = true
	}
	return nil
}
