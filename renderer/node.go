package renderer

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
)

// A tree is a document as Kubernetes reads it. The nodes lie in one slice; 0 is no
// node: what is asked of it is absent.
//
// A tree of values says what a document means. A tree of places says where in the
// stream its parts are written. The block reader makes both at once, the library
// makes one of each.
type tree struct {
	nodes []node // nil before the first document
	names *names // makes the strings; nil for a tree of which none are kept
}

// root is the node of the document itself.
const root = 1

type nodeKind uint8

const (
	null nodeKind = iota
	boolean
	number
	text
	sequence
	mapping
	alias // in a tree of places only
)

func (k nodeKind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "a map", "an alias"}[k]
}

type nodeStyle uint8

const (
	block nodeStyle = iota // also plain scalars
	flow
	quoted
	literal      // a block scalar whose text is decoded when needed; see blockText
	literalKeep  // with all its final line breaks
	literalStrip // with none of them
	folded
	foldedKeep
	foldedStrip
)

// A value is what stands at a node.
type value struct {
	kind   nodeKind
	style  nodeStyle
	indent int32  // of a block scalar
	text   []byte // a scalar as read; of any other value its JSON text, where known
}

// A node is a value and, in a mapping, its key.
type node struct {
	value
	key      []byte // as read
	keyStart int    // offsets into the stream; -1 when not known
	start    int
	end      int // just past a scalar of one line or a flow collection, else -1
	first    int32
	last     int32
	next     int32
	anchored bool
	template bool // marked as a pod template, for same
}

func newTree(capacity int) *tree {
	t := &tree{nodes: make([]node, 0, capacity)}
	t.reset()
	return t
}

const usualNodes = 64

// reset makes a tree, new or used before, ready for a document.
func (t *tree) reset() {
	if t.nodes == nil {
		t.nodes = make([]node, 0, usualNodes)
	}
	none := node{keyStart: -1, start: -1, end: -1}
	t.nodes = append(t.nodes[:0], none, none)
}

// add appends a child to a mapping or sequence and returns its index.
func (t *tree) add(parent int32, key []byte, keyStart int) int32 {
	i := len(t.nodes)
	t.nodes = slices.Grow(t.nodes, 1)[:i+1]
	// In place: copying a node that is made elsewhere takes half as long again.
	d := &t.nodes[i]
	*d = node{}
	d.key, d.keyStart, d.start, d.end = key, keyStart, -1, -1
	t.link(parent, int32(i))
	return int32(i)
}

// link makes a node the last child of another.
func (t *tree) link(parent, child int32) {
	p := &t.nodes[parent]
	if p.first == 0 {
		p.first = child
	} else {
		t.nodes[p.last].next = child
	}
	p.last = child
}

// get returns the value of a key, of the last one when the key is there twice, as
// Kubernetes does. None: 0.
func (t *tree) get(n int32, key string) int32 {
	if t.nodes[n].kind != mapping {
		return 0
	}
	found := int32(0)
	for c := t.nodes[n].first; c != 0; c = t.nodes[c].next {
		if string(t.nodes[c].key) == key {
			found = c
		}
	}
	return found
}

// at follows a path of keys from a node; 0 if it leads nowhere or to null.
func (t *tree) at(n int32, path ...string) int32 {
	for _, key := range path {
		if n = t.get(n, key); n == 0 {
			return 0
		}
	}
	if t.nodes[n].kind == null {
		return 0
	}
	return n
}

// bytesAt is at for the bytes of a string; none when there is no string.
func (t *tree) bytesAt(n int32, path ...string) []byte {
	if n = t.at(n, path...); n == 0 || t.nodes[n].kind != text {
		return nil
	}
	return t.textOf(n)
}

// stringAt is bytesAt as a string.
func (t *tree) stringAt(n int32, path ...string) string { return t.named(t.bytesAt(n, path...)) }

// named makes a string of bytes.
func (t *tree) named(b []byte) string {
	if t.names == nil {
		return string(b)
	}
	return t.names.of(b)
}

// textOf returns a string's bytes.
func (t *tree) textOf(n int32) []byte {
	d := &t.nodes[n]
	if d.style >= literal {
		return blockText(&d.value)
	}
	return d.text
}

// children ranges over the entries or items of a node, as they are written.
func (t *tree) children(n int32) func(yield func(int32) bool) {
	return func(yield func(int32) bool) {
		for c := t.nodes[n].first; c != 0; c = t.nodes[c].next {
			if !yield(c) {
				return
			}
		}
	}
}

// count returns how many entries or items a node has.
func (t *tree) count(n int32) int {
	all := 0
	for range t.children(n) {
		all++
	}
	return all
}

// path returns where a node is, from an ancestor: .spec.template.spec.containers[0].
func (t *tree) path(from, to int32) string {
	for i, c := 0, t.nodes[from].first; c != 0 && from != to; i, c = i+1, t.nodes[c].next {
		if !t.within(c, to) {
			continue
		}
		step := "[" + strconv.Itoa(i) + "]"
		if t.nodes[from].kind == mapping {
			step = "." + string(t.nodes[c].key)
		}
		return step + t.path(c, to)
	}
	return ""
}

// within says whether a node is a child of a collection or below it: nodes are
// added in the order of the text, so what is in it comes before its next sibling.
func (t *tree) within(child, n int32) bool {
	next := t.nodes[child].next
	return child <= n && (next == 0 || n < next)
}

// follow finds in one tree of a document the nodes at the places of nodes of
// another. It goes through both once, however many they are.
func follow(from *tree, nodes []int32, to *tree) map[int32]int32 {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	found := make(map[int32]int32, len(nodes))
	from.follow(root, nodes, to, root, found)
	return found
}

// follow takes the nodes at a node and below it, in ascending order.
func (t *tree) follow(at int32, nodes []int32, to *tree, n int32, found map[int32]int32) {
	for len(nodes) > 0 && nodes[0] <= at {
		found[nodes[0]] = n
		nodes = nodes[1:]
	}
	item := int32(0)
	if to.nodes[n].kind == sequence {
		item = to.nodes[n].first
	}
	for c := t.nodes[at].first; c != 0 && len(nodes) > 0; c = t.nodes[c].next {
		in := 0
		for in < len(nodes) && t.within(c, nodes[in]) {
			in++
		}
		there := item
		if t.nodes[at].kind == mapping && in > 0 {
			there = to.get(n, string(t.nodes[c].key))
		}
		if in > 0 && there != 0 {
			t.follow(c, nodes[:in], to, there, found)
		}
		nodes = nodes[in:]
		if item != 0 {
			item = to.nodes[item].next
		}
	}
}

// A typeError says that a node is not of the kind that Kubernetes wants there.
type typeError struct {
	node int32
	want string
}

func (e *typeError) Error() string { return "want " + e.want }

// describe completes a typeError with the node's path and kind.
func (t *tree) describe(object int32, e *typeError) error {
	path := t.path(object, e.node)
	if len(path) > 0 && path[0] == '.' {
		path = path[1:]
	}
	if path == "" {
		return fmt.Errorf("the document is %s, want %s", t.nodes[e.node].kind, e.want)
	}
	return fmt.Errorf("%s is %s, want %s", path, t.nodes[e.node].kind, e.want)
}

// wantMap returns the value of a key that has to be a map, or 0 if it is absent or null.
func (t *tree) wantMap(n int32, key string) (int32, error) { return t.want(n, key, mapping, "a map") }

// wantList is wantMap for a list.
func (t *tree) wantList(n int32, key string) (int32, error) {
	return t.want(n, key, sequence, "a list")
}

func (t *tree) want(n int32, key string, k nodeKind, want string) (int32, error) {
	v := t.at(n, key)
	if v != 0 && t.nodes[v].kind != k {
		return 0, &typeError{v, want}
	}
	return v, nil
}

// wantString returns a string; "" if it is absent or null.
func (t *tree) wantString(n int32, key string) (string, error) {
	v, err := t.want(n, key, text, "a string")
	if v == 0 || err != nil {
		return "", err
	}
	return t.named(t.textOf(v)), nil
}

// wantBool returns a boolean; false if it is absent or null.
func (t *tree) wantBool(n int32, key string) (bool, error) {
	v, err := t.want(n, key, boolean, "a boolean")
	if v == 0 || err != nil {
		return false, err
	}
	return string(t.nodes[v].text) == "true", nil
}

// eachMap ranges over a list of maps.
func (t *tree) eachMap(list int32, visit func(i int, item int32) error) error {
	if list == 0 {
		return nil
	}
	i := 0
	for c := range t.children(list) {
		if t.nodes[c].kind != mapping {
			return &typeError{c, "a map"}
		}
		if err := visit(i, c); err != nil {
			return err
		}
		i++
	}
	return nil
}

// emptyValue says whether a value holds nothing: null, "" or an empty map.
func emptyValue(t *tree, n int32) bool {
	d := &t.nodes[n]
	switch d.kind {
	case null:
		return true
	case text:
		return d.style < literal && len(d.text) == 0
	case mapping:
		return d.first == 0
	}
	return false
}

// isStamp says whether an annotation is one that helm-checksum writes.
func isStamp(key []byte) bool {
	return bytes.HasPrefix(key, []byte(stampConfigMap)) || bytes.HasPrefix(key, []byte(stampSecret))
}
