package renderer

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A config is a ConfigMap or Secret of the stream. Its content is read only when a
// workload that is stamped consumes it.
type config struct {
	object // namespace as written; empty if absent
	doc    document
	hook   bool

	skip       bool
	controlErr error // of its controls; counts when something consumes it
	controlAt  int   // where in the stream, if known

	list *configList // that this is an item of, or nil
	node int32       // in the list's tree

	replaced  bool // by another of the same name
	consumers int

	annotation string // the stamp's key; see stamp

	// Of which lists of keys workloads needed the checksum, and the checksums.
	wanted    index[string] // joined keys
	checksums []string

	content    content // nil unless many lists of keys were needed; see planner.checksum
	contentErr error   // why the content can't be read
}

// A configList is a document that is a list, with config objects among its items.
type configList struct {
	tree  *tree
	items []int32 // the config objects

	// The list as the library reads it, if that was needed for one of them, and where
	// the items are in it.
	once   sync.Once
	values *tree
	there  map[int32]int32
	err    error
}

// stamp returns the key of the object's stamp. See AnnotationKey.
func (c *config) stamp(otherNamespace string) string {
	if otherNamespace != "" {
		return AnnotationKey(c.kind, c.name, otherNamespace)
	}
	if c.annotation == "" {
		c.annotation = AnnotationKey(c.kind, c.name, "")
	}
	return c.annotation
}

func (c *config) String() string { return c.kind + "/" + c.name }

// readHead reads the name and the annotations of a config object without reading
// the object, when its metadata is a block mapping in plain sight.
func readHead(into *tree, stream []byte, d *seenDocument) (metadata *tree, ok bool) {
	if t := &d.top; t.odd || t.root != rootBlock || t.metadatas != 1 {
		return nil, false
	}
	line := []byte("\nmetadata:")
	from := d.body
	if bytes.HasPrefix(stream[from:d.end], line[1:]) {
		from--
	} else if i := bytes.Index(stream[from:d.end], line); i >= 0 {
		from += i
	} else {
		return nil, false
	}
	from += len(line)
	end := bytes.IndexByte(stream[from:d.end], '\n')
	if end < 0 || len(bytes.TrimRight(stream[from:from+end], " ")) > 0 {
		return nil, false
	}
	metadata, ok = readBlockEntry(into, stream, from+end+1, d.end)
	if !ok || metadata.nodes[root].kind != mapping {
		return nil, false
	}
	return metadata, true
}

// setMetadata takes the name, namespace and annotations from a metadata node.
func (c *config) setMetadata(t *tree, metadata int32) error {
	var err error
	if c.name, err = t.wantString(metadata, "name"); err != nil {
		return err
	}
	if c.namespace, err = t.wantString(metadata, "namespace"); err != nil {
		return err
	}
	c.hook = isHook(t, metadata)
	var own controls
	c.controlErr = own.read(t, metadata, configControls)
	if c.controlErr != nil {
		if control := new(controlError); errors.As(c.controlErr, &control) {
			c.controlAt = t.nodes[control.node].start
		}
	}
	c.skip = own.skip
	return nil
}

func isHook(t *tree, metadata int32) bool {
	return t.get(t.get(metadata, "annotations"), "helm.sh/hook") != 0
}

// An entry is one key of a config object and its value, not yet decoded.
type entry struct {
	key   []byte
	value value
	codec codec
}

// A codec says how the value of an entry is written.
type codec uint8

const (
	plainText codec = iota
	base64Text
)

// decode returns the value's bytes, and whether it was base64 where it had to be.
func (e *entry) decode() (value []byte, ok bool) {
	value = e.value.text
	if e.value.style >= literal {
		value = blockText(&e.value)
	}
	if e.codec != base64Text || e.value.kind != text {
		return value, true
	}
	// StdEncoding is padded and passes over CR and LF, as the contract asks.
	decoded, err := base64.StdEncoding.AppendDecode(nil, value)
	if err != nil {
		return value, false
	}
	return decoded, true
}

// A content is the keys of a config object in ascending byte order.
type content []entry

// readContent appends to a content what counts as a config object's (CONTRACT.md
// section 4); of what is given twice the field named last here wins.
func readContent(all content, t *tree, object int32, kind string) (content, error) {
	fields := []struct {
		name  string
		codec codec
	}{{"data", plainText}, {"binaryData", base64Text}}
	if kind == secretKind {
		fields[0].codec = base64Text
		fields[1].name, fields[1].codec = "stringData", plainText
	}
	if t.nodes[object].kind != mapping {
		return nil, &typeError{object, "a map"} // its lines look like an object's, but a scalar stands before them
	}
	for _, f := range fields {
		data, err := t.wantMap(object, f.name)
		if err != nil {
			return nil, err
		}
		if data == 0 {
			continue
		}
		all = slices.Grow(all, t.count(data))
		for c := range t.children(data) {
			all = append(all, entry{t.nodes[c].key, t.nodes[c].value, f.codec})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	// The last of equal keys counts.
	kept := all[:0]
	for i, e := range all {
		if i+1 == len(all) || !bytes.Equal(e.key, all[i+1].key) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// readConfig reads the content of a config object of a stream, into an empty content. The
// tree is memory to work in. Slow says that it was left to the library.
func readConfig(empty content, into *tree, stream []byte, c *config) (all content, slow bool, err error) {
	var t *tree
	n := int32(root)
	if c.list != nil {
		t, n = c.list.tree, c.node
	} else {
		var byBlockReader bool
		if t, byBlockReader, err = readDocument(into, stream, c.doc); err != nil {
			return nil, true, failed(stream, c.doc, c.String(), nil, 0, err)
		}
		slow = !byBlockReader
	}
	all, err = readContent(empty, t, n, c.kind)
	if err == nil && slices.ContainsFunc(all, entry.unwritten) {
		slow = true
		if t, n, err = c.byLibrary(stream); err != nil {
			return nil, true, failed(stream, c.doc, c.String(), nil, 0, err)
		}
		all, err = readContent(empty, t, n, c.kind)
	}
	if err != nil {
		return nil, slow, failed(stream, c.doc, c.String(), t, n, err)
	}
	return all, slow, nil
}

// byLibrary returns the object as the library reads it.
func (c *config) byLibrary(stream []byte) (t *tree, object int32, err error) {
	text := stream[c.doc.body:c.doc.end]
	if c.list == nil {
		t, err = readValues(text)
		return t, root, err
	}
	l := c.list
	l.once.Do(func() {
		if l.values, l.err = readValues(text); l.err == nil {
			l.there = follow(l.tree, l.items, l.values)
		}
	})
	return l.values, l.there[c.node], l.err
}

// unwritten says whether the value is a map or list whose JSON text is not known: the
// block reader makes none.
func (e entry) unwritten() bool {
	return (e.value.kind == mapping || e.value.kind == sequence) && e.value.text == nil
}

// find returns the entry of a key.
func (c content) find(key []byte) (*entry, bool) {
	i, ok := slices.BinarySearchFunc(c, key, func(e entry, k []byte) int { return bytes.Compare(e.key, k) })
	if !ok {
		return nil, false
	}
	return &c[i], true
}

// checksum computes the checksum of keys, ["*"] for all.
func (c content) checksum(sum *checksummer, kind string, keys []string) string {
	sum.begin(kind)
	if len(keys) == 1 && keys[0] == allKeys {
		for i := range c {
			sum.entry(&c[i])
		}
		return sum.hex()
	}
	for _, key := range keys {
		if e, ok := c.find([]byte(key)); ok {
			sum.entry(e)
		} else {
			sum.absent([]byte(key))
		}
	}
	return sum.hex()
}

// warnings says which values the API server will refuse. It names keys, no values.
func (c content) warnings(of *config) []string {
	var all []string
	for i := range c {
		e := &c[i]
		switch {
		case e.value.kind == null:
		case e.value.kind != text:
			all = append(all, fmt.Sprintf("%s: the value of key %s is %s, not a string: its JSON text was taken", of, quote(string(e.key)), e.value.kind))
		case e.codec == base64Text:
			if _, ok := e.decode(); !ok {
				all = append(all, fmt.Sprintf("%s: the value of key %s is not base64: its text was taken as it is", of, quote(string(e.key))))
			}
		}
	}
	return all
}

// joinKeys makes one string of a list of keys, different for different lists: a key may
// hold any character, but no byte that is no part of one.
func joinKeys(keys []string) string { return strings.Join(keys, "\xff") }
