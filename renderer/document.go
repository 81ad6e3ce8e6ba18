package renderer

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// topLevel is what can be told of a document from the lines in its column 0,
// without parsing it: most documents are neither workload nor config object, and
// those are never parsed.
type topLevel struct {
	root       rootKind
	odd        bool // written in a way that only a parser can read
	kind       []byte
	apiVersion []byte
	kinds      int // how many lines give a kind: with duplicate keys the last counts
	versions   int
	metadatas  int
}

type rootKind uint8

const (
	rootUnknown rootKind = iota // only blank lines and comments so far
	rootBlock                   // something in column 0
	rootOther                   // indented, in flow style, behind a tag or an anchor
)

// line looks at one line of the document that is not a marker.
func (t *topLevel) line(line []byte) {
	if blankAt(line, 0) {
		if t.root == rootUnknown && len(bytes.TrimSpace(line)) > 0 {
			if c := bytes.TrimSpace(line)[0]; c != '#' {
				t.root, t.odd = rootOther, true
			}
		}
		return
	}
	c := line[0]
	if c == '#' {
		return
	}
	if t.root == rootUnknown {
		if c == '%' {
			return // a directive
		}
		t.root = rootBlock
		if c == '{' || c == '[' {
			t.root = rootOther
		}
	}
	switch {
	case c == 'k':
		if v, ok := topValue(line, "kind"); ok {
			t.giveKind(v)
		}
	case c == 'a':
		if v, ok := topValue(line, "apiVersion"); ok {
			t.giveVersion(v)
		}
	case c == 'm':
		if _, ok := topValue(line, "metadata"); ok {
			t.metadatas++
		}
	case isLetter(c):
		// another key
	case c == '-', c == '}', c == ']', isDigit(c), c == '_', c == '/', c == '.':
		// an item, a closing bracket, or a key that is not one of ours
	default:
		t.odd = true // a quoted or complex key, a merge, an alias, flow style
	}
}

// giveKind takes the value of a line's kind, nil for one that only a parser can read.
func (t *topLevel) giveKind(v []byte) {
	t.kinds++
	t.kind = v
	t.odd = t.odd || v == nil
}

// giveVersion is giveKind for an apiVersion.
func (t *topLevel) giveVersion(v []byte) {
	t.versions++
	t.apiVersion = v
	t.odd = t.odd || v == nil
}

// simpleLine is line for "kind: X", "apiVersion: X" and "metadata:" as they are mostly
// written, and returns the offset of the next line; not ok leaves the line to line.
func (t *topLevel) simpleLine(b []byte, at int) (next int, ok bool) {
	const (
		kind       = "kind: "
		apiVersion = "apiVersion: "
		metadata   = "metadata:\n"
	)
	rest := b[at:]
	switch {
	case len(rest) > len(kind) && string(rest[:len(kind)]) == kind:
		v := simpleValue(rest[len(kind):])
		if v == nil {
			return 0, false
		}
		t.giveKind(v)
		next = at + len(kind) + len(v) + 1
	case len(rest) > len(apiVersion) && string(rest[:len(apiVersion)]) == apiVersion:
		v := simpleValue(rest[len(apiVersion):])
		if v == nil {
			return 0, false
		}
		t.giveVersion(v)
		next = at + len(apiVersion) + len(v) + 1
	case len(rest) >= len(metadata) && string(rest[:len(metadata)]) == metadata:
		t.metadatas++
		next = at + len(metadata)
	default:
		return 0, false
	}
	if t.root == rootUnknown {
		t.root = rootBlock
	}
	return next, true
}

// simpleValue returns the word that a text begins with, if it is all that stands on its
// line; nil if there is another value.
func simpleValue(b []byte) []byte {
	if !isLetter(b[0]) {
		return nil
	}
	// A plain scalar of ASCII that begins with a letter goes on to the first white space
	// or the end of the line, whatever it holds.
	const controls = 0x21 * lowBits
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if other := ((w-controls)&^w | w) & highBits; other != 0 {
			i += bits.TrailingZeros64(other) / 8
			break
		}
	}
	for i < len(b) && b[i] > ' ' && b[i] < utf8.RuneSelf {
		i++
	}
	if i == len(b) || b[i] != '\n' || b[i-1] == ':' {
		return nil
	}
	return b[:i]
}

// afterSeparator looks at what follows "---" on its line, and says whether the
// document begins there.
func (t *topLevel) afterSeparator(rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	if len(rest) == 0 || rest[0] == '#' {
		return false
	}
	t.root, t.odd = rootOther, true
	return true
}

// certain says whether the document is certainly one object of the kind that was seen, or
// of none.
func (t *topLevel) certain() bool { return !t.odd && t.kinds == 1 && t.versions <= 1 }

// usualBreaks says whether a text, which is UTF-8, has no line breaks but LF and CRLF: the
// others of YAML 1.1 (section 4.2) end no line here.
func usualBreaks(b []byte) bool {
	for rest := b; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			break
		}
		if rest = rest[i+1:]; len(rest) == 0 || rest[0] != '\n' {
			return false
		}
	}
	rest := b[usualPrefix(b):]
	for _, lineBreak := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(rest, []byte(lineBreak)) {
			return false
		}
	}
	return true
}

// configKind returns the kind of a document that is certainly one ConfigMap or Secret,
// else "".
func (t *topLevel) configKind() string {
	if !t.certain() {
		return ""
	}
	switch string(t.kind) {
	case configMapKind:
		return configMapKind
	case secretKind:
		return secretKind
	}
	return ""
}

// topValue returns the value of "key: value" when the line has that key, and nil
// for a value that is not a plain or simply quoted word.
func topValue(line []byte, key string) ([]byte, bool) {
	if len(line) <= len(key) || string(line[:len(key)]) != key {
		return nil, false
	}
	rest := bytes.TrimLeft(line[len(key):], " \t")
	if len(rest) == 0 || rest[0] != ':' || !blankAt(rest, 1) {
		return nil, false
	}
	v := rest[1:]
	if i := bytes.IndexByte(v, '#'); i > 0 && v[i-1] == ' ' {
		v = v[:i]
	}
	v = bytes.TrimSpace(v)
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		v = v[1 : n-1]
	}
	if len(v) == 0 {
		return nil, true
	}
	for _, c := range v {
		if !inWord.of(c) {
			return nil, true
		}
	}
	return v, true
}

// matters says whether the document may be a workload, a config object, or a list of them.
func (k *kinds) matters(d *seenDocument, stream []byte) bool {
	t := &d.top
	switch {
	case t.root == rootUnknown:
		return false
	case t.odd, t.kinds > 1, t.versions > 1:
		return k.mentioned(stream[d.body:d.end])
	case t.kinds == 0:
		return false
	}
	return k.known(t.apiVersion, t.kind)
}
