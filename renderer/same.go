package renderer

import "bytes"

// A part is what a mapping is to a pod template. It says which of the mapping's entries
// count when two readings of a document are held against each other: stamps do not, nor
// do maps that hold nothing else.
type part uint8

const (
	other part = iota
	podTemplatePart
	metadataPart
	annotationsPart
)

// same says whether two trees of one document mean the same, but for the stamps on pod
// templates, which are marked in the first tree.
func same(a, b *tree) bool { return sameNode(a, root, b, root, other) }

// mark marks nodes as pod templates.
func (t *tree) mark(templates []int32) {
	for _, n := range templates {
		t.nodes[n].template = true
	}
}

func sameNode(a *tree, n int32, b *tree, m int32, is part) bool {
	x, y := &a.nodes[n], &b.nodes[m]
	if x.kind != y.kind {
		return false
	}
	switch x.kind {
	case mapping:
		if x.template && is == other {
			is = podTemplatePart
		}
		if is != other {
			return sameEntries(a, n, b, m, is)
		}
		c, d := x.first, y.first
		for c != 0 && d != 0 {
			if !bytes.Equal(a.nodes[c].key, b.nodes[d].key) || !sameNode(a, c, b, d, other) {
				return false
			}
			c, d = a.nodes[c].next, b.nodes[d].next
		}
		return c == d // both are 0
	case sequence:
		c, d := x.first, y.first
		for c != 0 && d != 0 {
			if !sameNode(a, c, b, d, other) {
				return false
			}
			c, d = a.nodes[c].next, b.nodes[d].next
		}
		return c == d
	}
	if x.style != y.style || x.indent != y.indent {
		return bytes.Equal(a.textOf(n), b.textOf(m))
	}
	return bytes.Equal(x.text, y.text)
}

// sameEntries is sameNode for the mappings of a pod template.
func sameEntries(a *tree, n int32, b *tree, m int32, is part) bool {
	x, y := a.entries(n, is), b.entries(m, is)
	for {
		c, d := x.next(), y.next()
		if c == 0 || d == 0 {
			return c == d
		}
		if !bytes.Equal(a.nodes[c].key, b.nodes[d].key) || x.part(c) != y.part(d) || !sameNode(a, c, b, d, x.part(c)) {
			return false
		}
	}
}

// entries are the entries of a mapping that count.
type entries struct {
	t        *tree
	is       part
	position int32 // of what next looks at
	last     int32 // of metadata: the entry that is its annotations
}

func (t *tree) entries(n int32, is part) entries {
	e := entries{t: t, is: is, position: t.nodes[n].first}
	if is == metadataPart {
		e.last = t.get(n, "annotations")
	}
	return e
}

// next returns the next entry that counts, or 0.
func (e *entries) next() int32 {
	for e.position != 0 {
		n := e.position
		e.position = e.t.nodes[n].next
		switch part := e.part(n); {
		case e.is == annotationsPart && isStamp(e.t.nodes[n].key):
		case part != other && e.t.nothing(n, part):
		default:
			return n
		}
	}
	return 0
}

// part says what an entry is.
func (e *entries) part(n int32) part {
	switch {
	case e.is == podTemplatePart && string(e.t.nodes[n].key) == "metadata":
		return metadataPart
	case n == e.last:
		return annotationsPart
	}
	return other
}

// nothing says whether a part holds nothing that counts.
func (t *tree) nothing(n int32, is part) bool {
	if t.nodes[n].kind != mapping {
		return emptyValue(t, n)
	}
	e := t.entries(n, is)
	return e.next() == 0
}
