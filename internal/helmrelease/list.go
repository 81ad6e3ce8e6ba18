package helmrelease

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A listChange drops items of the list under a mapping's key and appends others.
type listChange struct {
	mapping *yaml.Node
	key     string
	have    []any    // the list as it is, by whatever ways of YAML it came there
	drop    []int    // indexes into have, ascending
	lines   []string // the new items for a block sequence, dash in the first column; nil for none
	flow    string   // the same for a flow sequence
	added   []any    // what they mean
	comment string   // a line of this text before a dropped item goes with it
}

// keep are the items that stay.
func (c listChange) keep() []any {
	var keep []any
	for i, v := range c.have {
		if !slices.Contains(c.drop, i) {
			keep = append(keep, v)
		}
	}
	return keep
}

// edit computes the edits of a document that make the change.
func (d *document) edit(c listChange) error {
	if c.mapping == nil || c.mapping.Kind != yaml.MappingNode {
		return fmt.Errorf("it is not a YAML mapping of its own (an alias?), so %s can't be written there: give it one", c.key)
	}
	node, at := child(c.mapping, c.key)
	inFlow := c.mapping.Style&yaml.FlowStyle != 0
	ownItems := node != nil && node.Kind == yaml.SequenceNode && len(node.Content) == len(c.have) && len(c.have) > 0
	switch {
	case c.lines == nil && len(c.keep()) == 0:
		if node != nil {
			d.removeKey(c, at)
		}
	case node == nil && inFlow:
		d.insertFlow(c.mapping, fmt.Sprintf("%q: %s", c.key, c.wholeFlow()))
	case node == nil:
		return d.insertKey(c)
	case !ownItems:
		// Empty, null, an alias, or merged from elsewhere: written as a list of its own.
		return d.replaceValue(c, at)
	case node.Style&yaml.FlowStyle != 0:
		d.editFlow(c, node)
	default:
		d.editBlock(c, node, at)
	}
	return nil
}

func (d *document) replace(from, to int, by string) {
	d.edits = append(d.edits, renderer.Edit{Start: from, End: to, Text: by})
}

// wholeFlow is the list after the change as a flow sequence.
func (c listChange) wholeFlow() string {
	var items []string
	for _, v := range c.keep() {
		items = append(items, flow(v))
	}
	if c.lines != nil {
		items = append(items, c.flow)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// wholeBlock is the list after the change as the lines of a block sequence.
func (c listChange) wholeBlock() ([]string, error) {
	var lines []string
	if keep := c.keep(); len(keep) > 0 {
		var b bytes.Buffer
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		if err := enc.Encode(keep); err != nil {
			return nil, err
		}
		lines = strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	return append(lines, c.lines...), nil
}

// indented joins lines, each indented and with a line break.
func indented(lines []string, indent int, lineBreak string) string {
	var b strings.Builder
	for _, l := range lines {
		if l != "" {
			b.WriteString(strings.Repeat(" ", indent) + l)
		}
		b.WriteString(lineBreak)
	}
	return b.String()
}

// insertLines puts whole lines at the offset of a line's start, or at the end of
// a text without a final line break. They end with one: our patches are block scalars.
func (d *document) insertLines(at int, lines string) {
	if at > 0 && d.text.src[at-1] != '\n' {
		lines = d.text.lineBreak(at-1) + lines
	}
	d.replace(at, at, lines)
}

// dashIndent is how far this document indents the dashes of a sequence in a
// mapping, seen from the mapping's keys: 0 or 2 by most people's habit.
func (d *document) dashIndent() int {
	var find func(n *yaml.Node) int
	find = func(n *yaml.Node) int {
		if n.Style&yaml.FlowStyle != 0 {
			return -1
		}
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind == yaml.SequenceNode &&
				c.Style&yaml.FlowStyle == 0 && len(c.Content) > 0 && c.Anchor == "" && c.Column >= n.Content[i-1].Column {
				return c.Column - n.Content[i-1].Column
			}
			if found := find(c); found >= 0 {
				return found
			}
		}
		return -1
	}
	if found := find(d.root); found >= 0 {
		return found
	}
	return 2
}

// insertKey puts the key at the end of a block mapping. A block scalar that the text's end cuts
// off, without a line break, would get one by that: then the key goes first.
func (d *document) insertKey(c listChange) error {
	lines, err := c.wholeBlock()
	if err != nil {
		return err
	}
	first := d.text.offset(c.mapping.Content[0])
	indent := d.text.column(first)
	end := d.text.end(c.mapping, indent-1, first)
	at := d.afterItem(end, indent)
	if at == len(d.text.src) && d.text.src[at-1] != '\n' && endsInBlockScalar(c.mapping) {
		at = d.text.lineStart(first)
	}
	lineBreak := d.text.lineBreak(max(at-1, 0))
	d.insertLines(at, indented([]string{c.key + ":"}, indent, lineBreak)+indented(lines, indent+d.dashIndent(), lineBreak))
	return nil
}

func endsInBlockScalar(n *yaml.Node) bool {
	for len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// afterItem is the offset of the line after what ends at end: the comments after it
// that are indented deeper than its collection are still its own.
func (d *document) afterItem(end, indent int) int {
	at := d.text.lineEnd(end)
	for at < len(d.text.src) {
		n, blank := d.text.indent(at)
		if blank || n <= indent || d.text.src[at+n] != '#' {
			break
		}
		at = d.text.lineEnd(at)
	}
	return at
}

// removeKey takes a key and its value out.
func (d *document) removeKey(c listChange, at int) {
	key, node := c.mapping.Content[at], c.mapping.Content[at+1]
	if c.mapping.Style&yaml.FlowStyle != 0 {
		d.removeFlow(c.mapping, at, at+2)
		return
	}
	from := d.text.lineStart(d.text.offset(key))
	indent := d.text.column(d.text.offset(key))
	to := d.text.lineEnd(d.text.end(node, indent, d.text.afterKey(key)))
	d.removeLines(from, to)
}

// removeLines takes whole lines out. What is before the last line of a text without
// a final line break then ends without one.
func (d *document) removeLines(from, to int) {
	if to == len(d.text.src) && d.text.src[to-1] != '\n' {
		from = d.text.trimBreak(from)
	}
	d.replace(from, to, "")
}

// replaceValue writes the whole list in place of a value.
func (d *document) replaceValue(c listChange, at int) error {
	key, node := c.mapping.Content[at], c.mapping.Content[at+1]
	after := d.text.afterKey(key)
	if c.mapping.Style&yaml.FlowStyle != 0 {
		d.replace(after, d.text.flowNodeEnd(node, after), " "+c.wholeFlow())
		return nil
	}
	lines, err := c.wholeBlock()
	if err != nil {
		return err
	}
	indent := d.text.column(d.text.offset(key))
	end := d.text.end(node, indent, after)
	next := d.text.lineEnd(end)
	lineBreak := d.text.lineBreak(end)
	d.replace(after, end, "")
	d.insertLines(next, indented(lines, indent+d.dashIndent(), lineBreak))
	return nil
}

// editBlock changes a block sequence.
func (d *document) editBlock(c listChange, node *yaml.Node, at int) {
	key := c.mapping.Content[at]
	items := d.text.items(node, d.text.column(d.text.offset(key)), d.text.afterKey(key))
	indent := d.text.column(items[0].dash)
	last := items[len(items)-1]
	next := d.afterItem(last.end, indent)
	added := ""
	if c.lines != nil {
		added = indented(c.lines, indent, d.text.lineBreak(last.end))
	}
	for _, i := range c.drop {
		from, to := d.text.lineStart(items[i].dash), d.text.lineEnd(items[i].end)
		if i == len(items)-1 {
			to = next
		}
		if before := d.text.lineStart(max(from-1, 0)); before < from &&
			string(bytes.TrimSpace(d.text.src[before:from])) == c.comment {
			from = before
		}
		if i == len(items)-1 && added != "" {
			d.replace(from, to, added)
			return
		}
		d.removeLines(from, to)
	}
	if added != "" {
		d.insertLines(next, added)
	}
}

// editFlow changes a flow sequence that has items.
func (d *document) editFlow(c listChange, node *yaml.Node) {
	if len(c.keep()) == 0 {
		from := d.text.offset(node.Content[0])
		d.replace(from, d.text.flowNodeEnd(node.Content[len(node.Content)-1], from), c.flow)
		return
	}
	for _, i := range c.drop {
		d.removeFlow(node, i, i+1)
	}
	if c.lines != nil {
		d.insertFlow(node, c.flow)
	}
}

// removeFlow takes what is at [from, to) in Content, an item or a key and its value,
// out of a flow collection, with one comma.
func (d *document) removeFlow(collection *yaml.Node, from, to int) {
	start := d.text.offset(collection.Content[from])
	switch {
	case to < len(collection.Content):
		d.replace(start, d.text.offset(collection.Content[to]), "")
	case from > 0:
		d.replace(d.flowContentEnd(collection, from), d.flowContentEnd(collection, to), "")
	default:
		d.replace(start, d.flowContentEnd(collection, to), "")
	}
}

// flowContentEnd is the offset after the last of the first n nodes of a flow collection.
func (d *document) flowContentEnd(collection *yaml.Node, n int) int {
	last := collection.Content[n-1]
	after := d.text.offset(last)
	if collection.Kind == yaml.MappingNode {
		after = d.text.afterKey(collection.Content[n-2])
	}
	return d.text.flowNodeEnd(last, after)
}

// insertFlow appends to a flow collection.
func (d *document) insertFlow(collection *yaml.Node, item string) {
	if len(collection.Content) == 0 {
		at := d.text.properties(d.text.offset(collection)) + 1
		d.replace(at, at, item)
		return
	}
	at := d.flowContentEnd(collection, len(collection.Content))
	d.replace(at, at, ", "+item)
}
