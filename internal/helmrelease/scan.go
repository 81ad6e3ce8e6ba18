package helmrelease

import (
	"bytes"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A text is one YAML document with the offsets of its lines, to get from the
// positions of yaml.Node, which only says where a node starts, to extents.
type text struct {
	src   []byte
	lines []int // where each line starts, as the parser counts them
}

func newText(src []byte) *text {
	t := &text{src: src, lines: []int{0}}
	for i, c := range string(src) {
		switch {
		case c == '\n', c == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			t.lines = append(t.lines, i+1)
		case c == '\u0085', c == '\u2028', c == '\u2029': // YAML 1.1, section 5.4
			t.lines = append(t.lines, i+utf8.RuneLen(c))
		}
	}
	return t
}

// offset turns a node's line and column (1-based; columns count runes) into an offset.
func (t *text) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(t.lines) {
		return len(t.src)
	}
	at := t.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(t.src[at:])
		at += size
	}
	return at
}

// lineStart is the offset of the line that holds at.
func (t *text) lineStart(at int) int {
	return bytes.LastIndexByte(t.src[:at], '\n') + 1
}

// lineEnd is the offset after the line that holds at, its line break included.
func (t *text) lineEnd(at int) int {
	if at >= len(t.src) {
		return len(t.src)
	}
	if i := bytes.IndexByte(t.src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(t.src)
}

// indent is the number of spaces at the start of the line at offset at;
// blank says that there is nothing else in it.
func (t *text) indent(at int) (n int, blank bool) {
	for at+n < len(t.src) && t.src[at+n] == ' ' {
		n++
	}
	rest := bytes.TrimSpace(t.src[at+n : t.lineEnd(at)])
	return n, len(rest) == 0
}

// column is the number of characters before at in its line.
func (t *text) column(at int) int {
	return utf8.RuneCount(t.src[t.lineStart(at):at])
}

// lineBreak is the line break that the text uses at offset at, or before it.
func (t *text) lineBreak(at int) string {
	end := t.lineEnd(at)
	if end == len(t.src) && (end == 0 || t.src[end-1] != '\n') {
		end = t.lineStart(at)
	}
	if end >= 2 && t.src[end-2] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// space skips white space, line breaks and comments.
func (t *text) space(at int) int {
	for at < len(t.src) {
		switch c := t.src[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '#' && (at == 0 || isSpace(t.src[at-1])):
			at = t.lineEnd(at)
		default:
			return at
		}
	}
	return at
}

// properties skips the anchor and the tag before a node's content.
func (t *text) properties(at int) int {
	for {
		at = t.space(at)
		if at >= len(t.src) || t.src[at] != '&' && t.src[at] != '!' {
			return at
		}
		at = t.token(at)
	}
}

// token skips to the next white space.
func (t *text) token(at int) int {
	for at < len(t.src) && !isSpace(t.src[at]) {
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// afterKey is the offset after the colon of a mapping's key.
func (t *text) afterKey(key *yaml.Node) int {
	at := t.space(t.scalarEnd(key, 0, true))
	if at < len(t.src) && t.src[at] == ':' {
		at++
	}
	return at
}

// end is the offset after the last character of a node, which stands in a block
// collection indented by parent spaces. after is where to look for the node when
// it is an empty one, which has no position.
func (t *text) end(n *yaml.Node, parent, after int) int {
	if isEmptyNull(n) {
		return after
	}
	if n.Style&yaml.FlowStyle != 0 {
		return t.flowEnd(t.properties(t.offset(n)))
	}
	switch n.Kind {
	case yaml.MappingNode:
		if len(n.Content) == 0 {
			return t.flowEnd(t.properties(t.offset(n)))
		}
		key, value := n.Content[len(n.Content)-2], n.Content[len(n.Content)-1]
		return t.end(value, t.column(t.offset(n.Content[0])), t.afterKey(key))
	case yaml.SequenceNode:
		if len(n.Content) == 0 {
			return t.flowEnd(t.properties(t.offset(n)))
		}
		items := t.items(n, parent, t.offset(n))
		return items[len(items)-1].end
	}
	return t.scalarEnd(n, parent, false)
}

func isEmptyNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Tag == "!!null" && n.Anchor == ""
}

// An item is the extent of one item of a block sequence, from its dash on.
type item struct{ dash, end int }

// items are the extents of a block sequence's items. after is an offset before
// the first dash, with nothing but white space, comments and properties between.
func (t *text) items(n *yaml.Node, parent, after int) []item {
	var items []item
	at := after
	for i, c := range n.Content {
		if i == 0 {
			at = t.properties(at)
		}
		dash := t.space(at)
		end := t.end(c, t.column(dash), dash+1)
		items = append(items, item{dash, end})
		at = end
	}
	return items
}

// scalarEnd is the offset after a scalar or an alias.
func (t *text) scalarEnd(n *yaml.Node, parent int, key bool) int {
	at := t.offset(n)
	if n.Kind == yaml.AliasNode {
		return t.token(at)
	}
	at = t.properties(at)
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0 || n.Style&yaml.SingleQuotedStyle != 0:
		return t.quoteEnd(at)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		header := t.src[at:t.lineEnd(at)]
		if i := bytes.Index(header, []byte(" #")); i >= 0 {
			header = header[:i]
		}
		return t.blockEnd(t.lineEnd(at), parent, bytes.IndexByte(header, '+') >= 0)
	case key:
		// A plain key is written as it is read: it can't span lines, and escapes nothing.
		return min(at+len(n.Value), len(t.src))
	}
	return t.plainEnd(at, parent)
}

// blockEnd is the offset after the lines of a block scalar whose content starts at at.
func (t *text) blockEnd(at, parent int, keep bool) int {
	end := max(at-1, 0)
	for at < len(t.src) {
		n, blank := t.indent(at)
		if !blank && n <= parent {
			break
		}
		next := t.lineEnd(at)
		if !blank || keep {
			end = t.trimBreak(next)
		}
		at = next
	}
	return end
}

// trimBreak is the offset before the line break that ends at at, if one does.
func (t *text) trimBreak(at int) int {
	if at > 0 && t.src[at-1] == '\n' {
		at--
		if at > 0 && t.src[at-1] == '\r' {
			at--
		}
	}
	return at
}

// plainEnd is the offset after a plain scalar in block context.
func (t *text) plainEnd(at, parent int) int {
	end, comment := t.plainLine(at)
	for line := t.lineEnd(end); !comment && line < len(t.src); line = t.lineEnd(line) {
		n, blank := t.indent(line)
		if blank {
			continue
		}
		if n <= parent || t.src[line+n] == '#' {
			break
		}
		end, comment = t.plainLine(line + n)
	}
	return end
}

// plainLine is the offset after the part of a plain scalar that is in this line.
func (t *text) plainLine(at int) (end int, comment bool) {
	line := t.src[at:t.lineEnd(at)]
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && isSpace(line[i-1]) {
			line, comment = line[:i], true
			break
		}
	}
	return at + len(bytes.TrimRight(line, " \t\r\n")), comment
}

// quoteEnd is the offset after a quoted scalar that starts at at.
func (t *text) quoteEnd(at int) int {
	if at >= len(t.src) {
		return at
	}
	quote := t.src[at]
	for at++; at < len(t.src); at++ {
		switch {
		case quote == '"' && t.src[at] == '\\':
			at++
		case t.src[at] == quote && quote == '\'' && at+1 < len(t.src) && t.src[at+1] == quote:
			at++
		case t.src[at] == quote:
			return at + 1
		}
	}
	return len(t.src)
}

// flowEnd is the offset after a flow collection that starts at at.
func (t *text) flowEnd(at int) int {
	depth := 0
	for start := true; at < len(t.src); {
		switch c := t.src[at]; {
		case c == '[' || c == '{':
			depth++
			start = true
			at++
		case c == ']' || c == '}':
			depth--
			start = false
			at++
			if depth == 0 {
				return at
			}
		case (c == '"' || c == '\'') && start:
			at = t.quoteEnd(at)
			start = false
		case isSpace(c) || c == '#' && isSpace(t.src[at-1]):
			at = t.space(at)
		case (c == '&' || c == '!') && start:
			at = t.token(at) // a node may follow an anchor or a tag
		default:
			// A quote inside a plain scalar is a character like others.
			start = c == ',' || c == ':' || c == '?'
			at++
		}
	}
	return len(t.src)
}

// flowNodeEnd is the offset after a node inside a flow collection.
func (t *text) flowNodeEnd(n *yaml.Node, after int) int {
	if isEmptyNull(n) {
		return after
	}
	at := t.offset(n)
	if n.Kind == yaml.AliasNode {
		return min(at+1+len(n.Value), len(t.src))
	}
	at = t.properties(at)
	switch {
	case n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode:
		return t.flowEnd(at)
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return t.quoteEnd(at)
	}
	for end := at; end < len(t.src); end++ {
		switch c := t.src[end]; {
		case c == ',' || c == ']' || c == '}' || c == '\n' || c == '#' && isSpace(t.src[end-1]):
			return at + len(bytes.TrimRight(t.src[at:end], " \t\r"))
		}
	}
	return len(t.src)
}
