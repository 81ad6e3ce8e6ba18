package renderer

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// readValues reads a document as Kubernetes does, through sigs.k8s.io/yaml: a tree
// of values, without places. An error's line counts from the text's first line, 1.
func readValues(doc []byte) (t *tree, err error) {
	defer func() {
		if recover() != nil { // in the library; what it says may quote the document
			t, err = nil, &lineError{0, unreadable}
		}
	}()
	if expands(doc) {
		return nil, &lineError{0, excessiveAliasing}
	}
	j, err := yaml.YAMLToJSON(doc)
	if err != nil {
		return nil, safeYAMLError(doc, err)
	}
	t = newTree(len(j)/32 + 8)
	if rest := t.readJSON(root, j, 0); rest != len(j) {
		return nil, errors.New("not readable as JSON")
	}
	return t, nil
}

const (
	unreadable        = "not readable as YAML"
	excessiveAliasing = "document contains excessive aliasing"

	// A document may become this many times as large by its aliases, and a small one
	// by as much as that.
	maxExpansion  = 4
	freeExpansion = 1 << 20
)

// expands says whether aliases make a document much larger than it is written. The
// library counts the nodes that it makes of them, not how large each is.
func expands(doc []byte) bool {
	const harmless = 4 // so many can't do much: each may double what there is
	if bytes.Count(doc, []byte("*")) <= harmless || bytes.IndexByte(doc, '&') < 0 {
		return false
	}
	limit := len(doc)*maxExpansion + freeExpansion
	var y yamlv3.Node
	if err := yamlv3.Unmarshal(doc, &y); err != nil {
		return false // both have the same parser at heart, so the other one says what is wrong
	}
	sizes := make(map[*yamlv3.Node]int)
	var size func(y *yamlv3.Node) int
	size = func(y *yamlv3.Node) int {
		if y.Kind == yamlv3.AliasNode {
			n, known := sizes[y.Alias]
			if !known {
				sizes[y.Alias] = 0 // one that contains itself is refused by the library
				n = size(y.Alias)
				sizes[y.Alias] = n
			}
			return n
		}
		n := len(y.Value) + 1
		for _, c := range y.Content {
			n = min(n+size(c), limit+1)
		}
		return n
	}
	return size(&y) > limit
}

// A lineError is a reader's error at a line of its document, from 1.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return e.text }

// The parser's messages, for whose line go.yaml.in/yaml/v2 counts from 0; for its
// scanner's it counts from 1 (its yaml.go, (*parser).fail).
var parserMessages = []string{
	"did not find expected key", "did not find expected node content", "did not find expected '-' indicator",
	"did not find expected ',' or", "did not find expected <", "found undefined tag handle",
	"found duplicate %", "found incompatible YAML document",
}

// Messages that speak of YAML's grammar alone, never of a value.
var grammarMessages = []string{
	"did not find", "could not find", "found ", "mapping values are not allowed", "mapping keys are not allowed",
	"block sequence entries are not allowed", "control characters are not allowed", "invalid ", "incomplete ",
	"unexpected low surrogate", "expected low surrogate", "exceeded max depth", excessiveAliasing,
}

// Messages that quote a part of the document, and what is said in their stead: no
// value of a Secret may come out in an error. They come without a line; at says
// whether a node is one that they speak of.
var quotingMessages = []struct {
	prefix, instead string
	at              func(y *yamlv3.Node, message string) bool
}{
	{"unknown anchor", "an alias whose anchor does not exist", nil},
	{"anchor", "an anchor that contains itself", func(y *yamlv3.Node, message string) bool {
		return y.Anchor != "" && strings.HasPrefix(message, "anchor '"+y.Anchor+"' ")
	}},
	{"invalid map key", "a map or list as a key", func(y *yamlv3.Node, _ string) bool {
		return hasKey(y, func(key, _ *yamlv3.Node) bool { return isCollection(key) })
	}},
	{"unsupported map key", "a key that is neither a string, a number nor a boolean", func(y *yamlv3.Node, _ string) bool {
		return hasKey(y, func(key, _ *yamlv3.Node) bool { return dealiased(key).ShortTag() == "!!null" })
	}},
	{"cannot decode", "a value that does not fit its tag", func(y *yamlv3.Node, message string) bool {
		return y.Kind == yamlv3.ScalarNode && strings.HasSuffix(message, " `"+y.Value+"` as a "+y.Tag)
	}},
	{"!!binary", "a !!binary value that is not base64", func(y *yamlv3.Node, _ string) bool {
		_, err := base64.StdEncoding.DecodeString(y.Value)
		return y.Kind == yamlv3.ScalarNode && y.Tag == "!!binary" && err != nil
	}},
	{"map merge requires", "a merge key (<<) whose value is not a map", func(y *yamlv3.Node, _ string) bool {
		return hasKey(y, func(key, value *yamlv3.Node) bool {
			return key.Tag == "!!merge" && dealiased(value).Kind != yamlv3.MappingNode
		})
	}},
	{"json: unsupported value", "a number that JSON can't hold (.inf or .nan)", func(y *yamlv3.Node, _ string) bool {
		return y.Kind == yamlv3.ScalarNode && y.Tag == "!!float" && strings.Contains(y.Value, ".") && !strings.ContainsAny(y.Value, "0123456789")
	}},
}

func isCollection(y *yamlv3.Node) bool {
	k := dealiased(y).Kind
	return k == yamlv3.MappingNode || k == yamlv3.SequenceNode
}

func dealiased(y *yamlv3.Node) *yamlv3.Node {
	if y.Kind == yamlv3.AliasNode {
		return y.Alias
	}
	return y
}

// hasKey says whether a node is a mapping with an entry like that.
func hasKey(y *yamlv3.Node, like func(key, value *yamlv3.Node) bool) bool {
	for i := 0; y.Kind == yamlv3.MappingNode && i+1 < len(y.Content); i += 2 {
		if like(y.Content[i], y.Content[i+1]) {
			return true
		}
	}
	return false
}

// safeYAMLError takes a YAML library's error about a document apart: the line, and a
// text that quotes nothing of the document.
func safeYAMLError(doc []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			line, _ = strconv.Atoi(number)
			text = message
		}
	}
	for _, p := range parserMessages {
		if strings.HasPrefix(text, p) {
			line++
			break
		}
	}
	for _, q := range quotingMessages {
		if strings.HasPrefix(text, q.prefix) {
			return &lineError{streamLine(doc, lineOfNode(doc, text, q.at)), q.instead}
		}
	}
	for _, p := range grammarMessages {
		if strings.HasPrefix(text, p) {
			return &lineError{streamLine(doc, lineOfProblem(doc, text, line)), text}
		}
	}
	return &lineError{line, unreadable}
}

// streamLine turns a number of the library's, which counts CR and the line breaks of
// Unicode too, into one that counts LF.
func streamLine(doc []byte, line int) int {
	lines := lineStarts(doc, 0, len(doc))
	if line < 1 || line > len(lines) {
		return line
	}
	return lineAt(doc, lines[line-1])
}

// lineOfNode returns the line of the node that a message speaks of, 0 if it is not
// found.
func lineOfNode(doc []byte, message string, at func(y *yamlv3.Node, message string) bool) int {
	if at == nil {
		name := strings.TrimSuffix(strings.TrimPrefix(message, "unknown anchor '"), "' referenced")
		if i := bytes.Index(doc, []byte("*"+name)); i >= 0 {
			return len(lineStarts(doc[:i], 0, i))
		}
		return 0
	}
	var y yamlv3.Node
	if yamlv3.Unmarshal(doc, &y) != nil {
		return 0
	}
	var find func(y *yamlv3.Node) int
	find = func(y *yamlv3.Node) int {
		for _, c := range y.Content {
			if line := find(c); line > 0 {
				return line // the innermost
			}
		}
		if at(y, message) {
			return y.Line
		}
		return 0
	}
	return find(&y)
}

// lineOfProblem returns the line where a person would look for what a message says,
// from the line that the library gives: that is where it could not go on.
func lineOfProblem(doc []byte, message string, line int) int {
	lines := lineStarts(doc, 0, len(doc))
	switch {
	case strings.HasPrefix(message, "control characters"):
		for i, c := range string(doc) {
			if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0 && c != 0x85 || c == 0xfffe || c == 0xffff {
				return 1 + sort.Search(len(lines)-1, func(n int) bool { return lines[n+1] > i })
			}
		}
	case strings.HasPrefix(message, "could not find expected ':'"):
		// A line that should be an entry is known not to be one when the next is read.
		for line = min(line, len(lines)+1) - 1; line > 1; line-- {
			if text := bytes.TrimSpace(lineText(doc, lines, line)); len(text) > 0 && text[0] != '#' {
				break
			}
		}
	case strings.HasPrefix(message, "found unexpected end of stream"):
		line = lineOfQuote(doc, lines, message)
	}
	return line
}

// lineText returns a line of a document by its number.
func lineText(doc []byte, lines []int, line int) []byte {
	end := len(doc)
	if line < len(lines) {
		end = lines[line]
	}
	return doc[lines[line-1]:end]
}

// lineOfQuote returns the line on which a quoted scalar begins that does not end: the
// first with which the document is broken in that way. Of a large document it is the last.
func lineOfQuote(doc []byte, lines []int, message string) int {
	const large = 1 << 20
	if len(doc) > large {
		return len(lines)
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		_, err := yaml.YAMLToJSON(doc[:lines[i+1]])
		return err != nil && strings.HasSuffix(err.Error(), message)
	})
}

// readJSON reads the JSON value at j[i:], as encoding/json wrote it, into a node,
// and returns its end; -1 if it is none.
func (t *tree) readJSON(n int32, j []byte, i int) int {
	begin := i
	switch c := j[i]; c {
	case '{', '[':
		closing := c + 2 // as ASCII has it
		t.nodes[n].kind = sequence
		if c == '{' {
			t.nodes[n].kind = mapping
		}
		for i++; j[i] != closing; {
			if j[i] == ',' {
				i++
			}
			var key []byte
			if c == '{' {
				end := jsonStringEnd(j, i)
				key = jsonString(j[i:end])
				i = end + 1
			}
			if i = t.readJSON(t.add(n, key, -1), j, i); i < 0 {
				return -1
			}
		}
		i++
		t.nodes[n].text = j[begin:i]
	case '"':
		i = jsonStringEnd(j, i)
		t.nodes[n].kind, t.nodes[n].text = text, jsonString(j[begin:i])
		t.nodes[n].style = quoted
	default:
		for i < len(j) && strings.IndexByte(",]}", j[i]) < 0 {
			i++
		}
		t.nodes[n].text = j[begin:i]
		switch c {
		case 'n':
			t.nodes[n].kind, t.nodes[n].text = null, nil
		case 't', 'f':
			t.nodes[n].kind = boolean
		default:
			t.nodes[n].kind = number
		}
	}
	return i
}

func jsonStringEnd(j []byte, i int) int {
	for i++; j[i] != '"'; i++ {
		if j[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func jsonString(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // encoding/json wrote it
	return []byte(s)
}

var errNoPlaces = errors.New("no places")

// readPlaces reads a document for where its parts are written: a tree of places,
// with offsets into the stream. Scalars are not resolved.
func readPlaces(stream []byte, from, end int) (t *tree, err error) {
	defer func() {
		if recover() != nil { // in the library
			t, err = nil, errNoPlaces
		}
	}()
	var doc yamlv3.Node
	if err := yamlv3.Unmarshal(stream[from:end], &doc); err != nil || len(doc.Content) != 1 {
		return nil, errNoPlaces
	}
	p := placer{stream: stream, tree: newTree((end-from)/64 + 8), lines: lineStarts(stream, from, end)}
	if err := p.place(root, doc.Content[0]); err != nil {
		return nil, err
	}
	return p.tree, nil
}

// lineStarts returns the offsets of a document's lines, with the line breaks of
// YAML 1.1: CR, NEL and the Unicode separators too.
func lineStarts(stream []byte, from, end int) []int {
	lines := []int{from}
	for i := from; i < end; {
		n := 1
		switch c := stream[i]; {
		case c == '\n':
			lines = append(lines, i+1)
		case c == '\r':
			if i+1 < end && stream[i+1] == '\n' {
				n = 2
			}
			lines = append(lines, i+n)
		case c == 0xc2 && bytes.HasPrefix(stream[i:end], []byte("\u0085")):
			n = 2
			lines = append(lines, i+n)
		case c == 0xe2 && (bytes.HasPrefix(stream[i:end], []byte("\u2028")) || bytes.HasPrefix(stream[i:end], []byte("\u2029"))):
			n = 3
			lines = append(lines, i+n)
		}
		i += n
	}
	return lines
}

type placer struct {
	stream []byte
	tree   *tree
	lines  []int

	// Where the last offset was found: nodes come in the order of the text, so a
	// long line is walked once, not once for each node on it.
	line, column, at int
}

func (p *placer) place(n int32, y *yamlv3.Node) error {
	start, err := p.offset(y)
	if err != nil {
		return err
	}
	d := &p.tree.nodes[n]
	d.start = start
	d.anchored = y.Anchor != "" || y.Tag != "" && y.Style&yamlv3.TaggedStyle != 0
	switch y.Kind {
	case yamlv3.AliasNode:
		d.kind = alias
		d.end = start + 1 + len(y.Value)
	case yamlv3.ScalarNode:
		d.kind, d.text = text, []byte(y.Value)
		if y.Tag == "!!null" {
			d.kind, d.text = null, nil
		}
		if y.Style&(yamlv3.DoubleQuotedStyle|yamlv3.SingleQuotedStyle) != 0 {
			d.style = quoted
		}
		if y.Style&(yamlv3.LiteralStyle|yamlv3.FoldedStyle) == 0 && !d.anchored {
			d.end = scalarEnd(p.stream, start, d)
		}
	case yamlv3.MappingNode:
		d.kind = mapping
		if y.Style&yamlv3.FlowStyle != 0 {
			d.style = flow
		}
		for i := 0; i+1 < len(y.Content); i += 2 {
			k := y.Content[i]
			at, err := p.offset(k)
			if err != nil {
				return err
			}
			var key []byte
			if k.Kind == yamlv3.ScalarNode {
				key = []byte(k.Value)
			}
			if k.Anchor != "" || k.Style&yamlv3.TaggedStyle != 0 || k.Kind != yamlv3.ScalarNode {
				at = -1 // nothing is done at a key like this
			}
			if err := p.place(p.tree.add(n, key, at), y.Content[i+1]); err != nil {
				return err
			}
		}
	case yamlv3.SequenceNode:
		d.kind = sequence
		if y.Style&yamlv3.FlowStyle != 0 {
			d.style = flow
		}
		for _, item := range y.Content {
			if err := p.place(p.tree.add(n, nil, -1), item); err != nil {
				return err
			}
		}
	}
	return nil
}

// offset turns a node's line and column, which counts characters, into an offset.
func (p *placer) offset(y *yamlv3.Node) (int, error) {
	if y.Line < 1 || y.Line > len(p.lines) {
		return 0, errNoPlaces
	}
	if y.Line != p.line || y.Column < p.column {
		p.line, p.column, p.at = y.Line, 1, p.lines[y.Line-1]
	}
	for ; p.column < y.Column; p.column++ {
		if p.at >= len(p.stream) {
			return 0, errNoPlaces
		}
		_, size := utf8.DecodeRune(p.stream[p.at:])
		p.at += size
	}
	return p.at, nil
}

// scalarEnd returns the end of a plain or quoted scalar of one line, -1 for others.
// For an empty one it is the start.
func scalarEnd(stream []byte, start int, d *node) int {
	if start >= len(stream) {
		return start
	}
	if d.style != quoted {
		// A plain scalar stands there as it is read, unless it is folded from several lines.
		if d.kind == null {
			for _, word := range []string{"null", "Null", "NULL", "~"} {
				if bytes.HasPrefix(stream[start:], []byte(word)) {
					return start + len(word)
				}
			}
			return start
		}
		if bytes.HasPrefix(stream[start:], d.text) {
			return start + len(d.text)
		}
		return -1
	}
	for i, q := start+1, stream[start]; i < len(stream) && stream[i] != '\n'; i++ {
		switch {
		case stream[i] == '\\' && q == '"':
			i++
		case stream[i] == q && q == '\'' && i+1 < len(stream) && stream[i+1] == q:
			i++
		case stream[i] == q:
			return i + 1
		}
	}
	return -1
}

// placeOf returns the offset of a value of a document that a library read, -1 if
// it can't be told.
func placeOf(stream []byte, d document, values *tree, node int32) int {
	places, err := readPlaces(stream, d.body, d.end)
	if err != nil {
		return -1
	}
	if n := follow(values, []int32{node}, places)[node]; n != 0 {
		return places.nodes[n].start
	}
	return -1
}
