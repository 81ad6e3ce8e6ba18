package renderer

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
)

// A blockReader reads the YAML that charts are mostly written in, at many times
// the speed of a library, and with the place of every value: block mappings and
// sequences, literal block scalars, plain and simply quoted scalars of one line,
// short flow collections. It takes only what it is certain of, and leaves every
// document that has anything else in it to the library. What it takes it reads as
// sigs.k8s.io/yaml does; FuzzBlockReader holds the two together.
type blockReader struct {
	src   []byte // the stream
	end   int    // of the document
	pos   int    // first character of the current line that is no space
	col   int    // its column; -1 past the last line
	line  int    // start of the current line
	depth int
	tree  *tree
}

const (
	maxBlockDepth = 100 // far deeper than manifests are, far from a deep stack
	maxBlockKey   = 256 // YAML's own limit for a key on one line is 1024
)

// readBlock reads src[from:end] as one document, or says that it leaves it to the library.
func readBlock(src []byte, from, end int) (*tree, bool) {
	if !plainBytes(src[from:end]) {
		return nil, false
	}
	r := blockReader{src: src, end: end, tree: newTree((end-from)/64 + 8)}
	if !r.begin(from) || r.col != 0 || !r.node(root) || r.col >= 0 {
		return nil, false
	}
	return r.tree, true
}

// readBlockEntry reads the value of one key in column 0, which begins on the next
// line, and stops where the value ends. The root of the tree is that value.
func readBlockEntry(src []byte, from, end int) (*tree, bool) {
	r := blockReader{src: src, end: end, tree: newTree(16)}
	if !r.begin(from) || r.col <= 0 || !r.node(root) || r.col > 0 {
		return nil, false
	}
	if !plainBytes(src[from:min(r.line, end)]) {
		return nil, false
	}
	return r.tree, true
}

// plainBytes says whether a text holds only characters that YAML takes as they
// are: no control characters, no byte-order marks, no line breaks but LF.
func plainBytes(b []byte) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for len(b) >= 8 {
		w := binary.LittleEndian.Uint64(b)
		// A byte is flagged when it is below 0x20, 0x7f or above it.
		if (w|(w-0x20*ones)|(w+ones))&highs != 0 && !plainRun(b, 8) {
			return false
		}
		b = b[8:]
	}
	return plainRun(b, len(b))
}

// plainRun looks at the first n bytes one by one; what follows them is there to
// complete a character.
func plainRun(b []byte, n int) bool {
	for i := 0; i < n; i++ {
		switch c := b[i]; {
		case c == '\n', c == '\t', c >= 0x20 && c < 0x7f:
		case c < 0x80:
			return false
		case c == 0xc2: // C1 controls, NEL among them
			if i+1 < len(b) && b[i+1] < 0xa0 {
				return false
			}
		case c == 0xe2: // line and paragraph separators
			if i+2 < len(b) && b[i+1] == 0x80 && b[i+2]&0xfe == 0xa8 {
				return false
			}
		case c == 0xef: // byte-order marks, non-characters
			if i+2 < len(b) && (b[i+1] == 0xbb && b[i+2] == 0xbf || b[i+1] == 0xbf && b[i+2] >= 0xbe) {
				return false
			}
		}
	}
	return true
}

// begin goes to the first line that has something on it.
func (r *blockReader) begin(from int) bool {
	r.line = from
	return r.find(from)
}

// advance goes to the line after the current one that has something on it.
func (r *blockReader) advance(from int) bool {
	i := bytes.IndexByte(r.src[from:r.end], '\n')
	if i < 0 {
		r.line, r.pos, r.col = r.end, r.end, -1
		return true
	}
	return r.find(from + i + 1)
}

// find goes to the first line at or after a line's start that has something on it,
// comments and blank lines passed over.
func (r *blockReader) find(line int) bool {
	for line < r.end {
		i := line
		for i < r.end && r.src[i] == ' ' {
			i++
		}
		if i == r.end {
			break
		}
		switch r.src[i] {
		case '\n':
			line = i + 1
		case '\t':
			return false
		case '#':
			n := bytes.IndexByte(r.src[i:r.end], '\n')
			if n < 0 {
				line = r.end
			} else {
				line = i + n + 1
			}
		default:
			r.line, r.pos, r.col = line, i, i-line
			return true
		}
	}
	r.line, r.pos, r.col = r.end, r.end, -1
	return true
}

// lineEnd is the offset of the current line's end, its break left out.
func (r *blockReader) lineEnd() int {
	if i := bytes.IndexByte(r.src[r.pos:r.end], '\n'); i >= 0 {
		return r.pos + i
	}
	return r.end
}

// node reads the block collection that begins at the current position.
func (r *blockReader) node(n int32) bool {
	if r.depth++; r.depth > maxBlockDepth {
		return false
	}
	defer func() { r.depth-- }()
	r.tree.nodes[n].start = r.pos
	if r.atItem() {
		return r.sequence(n, r.col)
	}
	return r.mapping(n, r.col)
}

// atItem says whether "- " stands at the current position.
func (r *blockReader) atItem() bool {
	return r.src[r.pos] == '-' && (r.pos+1 == r.end || r.src[r.pos+1] == ' ' || r.src[r.pos+1] == '\n')
}

func (r *blockReader) mapping(n int32, col int) bool {
	r.tree.nodes[n].kind = mapping
	for r.col == col && !r.atItem() {
		keyStart := r.pos
		key, after, ok := r.key(r.pos)
		if !ok {
			return false
		}
		c := r.tree.add(n, key, keyStart)
		r.pos = after
		if !r.value(c, col, true) {
			return false
		}
	}
	// An item in the column of a mapping's keys belongs to no one.
	return r.col < col
}

func (r *blockReader) sequence(n int32, col int) bool {
	r.tree.nodes[n].kind = sequence
	for r.col == col && r.atItem() {
		c := r.tree.add(n, nil, -1)
		r.pos++
		if !r.value(c, col, false) {
			return false
		}
	}
	return r.col <= col
}

// value reads what follows "key:" or "-": the rest of the line, or what is
// indented below it. It leaves the reader at the next line.
func (r *blockReader) value(n int32, col int, inMapping bool) bool {
	i := r.pos
	for i < r.end && r.src[i] == ' ' {
		i++
	}
	switch {
	case i == r.end || r.src[i] == '\n' || r.src[i] == '#' && i > r.pos:
		if !r.advance(i) {
			return false
		}
		switch {
		case r.col > col:
			return r.node(n)
		case r.col == col && inMapping && r.atItem():
			return r.node(n) // a list may stand in the column of its key
		}
		return true // null
	case inMapping:
		r.pos = i
		return r.scalar(n, col)
	}
	// An item: the collection in it begins on the item's own line.
	r.pos = i
	if r.atItem() {
		r.col = i - r.line
		return r.node(n)
	}
	if _, _, ok := r.key(i); ok {
		r.col = i - r.line
		return r.node(n)
	}
	return r.scalar(n, col)
}

// key reads "key:" at an offset and returns the key and the offset past the colon.
func (r *blockReader) key(i int) (key []byte, after int, ok bool) {
	switch c := r.src[i]; {
	case c == '"' || c == '\'':
		end, simple := r.quoted(i)
		if !simple {
			return nil, 0, false
		}
		key, after = r.src[i+1:end-1], end
	default:
		for after = i; after < r.end && isKeyByte(r.src[after]); after++ {
		}
		key = r.src[i:after]
		if k, sure := plainKind(key); !sure || k != text {
			return nil, 0, false
		}
	}
	if len(key) > maxBlockKey || after >= r.end || r.src[after] != ':' {
		return nil, 0, false
	}
	after++
	if after < r.end && r.src[after] != ' ' && r.src[after] != '\n' {
		return nil, 0, false
	}
	return key, after, true
}

// isKeyByte says whether a plain key may hold a byte without another look.
func isKeyByte(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '.' || c == '/' || c == '-' || c == '$'
}

// quoted returns the end of a quoted scalar of one line, and whether its text
// stands there as it is: no escapes, no doubled quotes.
func (r *blockReader) quoted(i int) (end int, simple bool) {
	quote := r.src[i]
	for j := i + 1; j < r.end; j++ {
		switch c := r.src[j]; {
		case c == quote:
			if quote == '\'' && j+1 < r.end && r.src[j+1] == '\'' {
				return 0, false
			}
			return j + 1, true
		case c == '\n', c == '\t', c == '\\' && quote == '"':
			return 0, false
		}
	}
	return 0, false
}

// scalar reads the value at the current position to the end of its line, or to the
// end of a literal, and goes to the next line.
func (r *blockReader) scalar(n int32, col int) bool {
	d := &r.tree.nodes[n]
	d.start = r.pos
	switch r.src[r.pos] {
	case '|':
		return r.literal(n, col)
	case '{', '[':
		r.pos = r.flow(n, 0)
		if r.pos < 0 {
			return false
		}
	case '"', '\'':
		end, text, ok := r.quotedText(r.pos)
		if !ok {
			return false
		}
		d.setText(text, quoted)
		d.end = end
		r.pos = end
	default:
		end := r.lineEnd()
		b := r.src[r.pos:end]
		if !plainStart(b) || bytes.IndexByte(b, '\t') >= 0 {
			return false
		}
		if i := bytes.Index(b, []byte(" #")); i >= 0 {
			b = b[:i]
		}
		b = bytes.TrimRight(b, " ")
		if b[len(b)-1] == ':' || bytes.Contains(b, []byte(": ")) {
			return false
		}
		k, sure := plainKind(b)
		if !sure {
			return false
		}
		d.kind, d.text = k, b
		d.normalise()
		d.end = r.pos + len(b)
		r.pos = d.end
	}
	return r.endScalar(col)
}

// endScalar passes over what may follow a scalar on its line, and refuses a line
// below it that would continue it.
func (r *blockReader) endScalar(col int) bool {
	i := r.pos
	for i < r.end && r.src[i] == ' ' {
		i++
	}
	if i < r.end && r.src[i] != '\n' && (r.src[i] != '#' || i == r.pos) {
		return false
	}
	return r.advance(i) && r.col <= col
}

// plainStart says whether a plain scalar may begin so.
func plainStart(b []byte) bool {
	switch c := b[0]; c {
	case '-':
		return len(b) > 1 && b[1] != ' '
	case '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	}
	return true
}

func (d *node) setText(b []byte, s nodeStyle) { d.kind, d.text, d.style = text, b, s }

// normalise gives a plain scalar's JSON text.
func (d *node) normalise() {
	switch d.kind {
	case null:
		d.text = nil
	case boolean:
		d.text = []byte(strconv.FormatBool(booleans[string(d.text)]))
	}
}

// quotedText reads a quoted scalar of one line and returns its end and its text.
func (r *blockReader) quotedText(i int) (end int, text []byte, ok bool) {
	if end, simple := r.quoted(i); simple {
		return end, r.src[i+1 : end-1], true
	}
	quote := r.src[i]
	var b []byte
	for j := i + 1; j < r.end; j++ {
		c := r.src[j]
		switch {
		case c == '\n', c == '\t':
			return 0, nil, false
		case c == quote && quote == '\'' && j+1 < r.end && r.src[j+1] == '\'':
			j++
		case c == quote:
			return j + 1, b, true
		case c == '\\' && quote == '"':
			if j++; j >= r.end {
				return 0, nil, false
			}
			switch r.src[j] {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'r':
				c = '\r'
			case '"', '\\', '/':
				c = r.src[j]
			default:
				return 0, nil, false
			}
		}
		b = append(b, c)
	}
	return 0, nil, false
}

// flow reads a short flow collection of one line, of quoted and of plain words,
// and returns its end; -1 leaves it to the library.
func (r *blockReader) flow(n int32, depth int) int {
	if depth > 8 {
		return -1
	}
	d := &r.tree.nodes[n]
	open, i := r.src[r.pos], r.pos+1
	d.style, d.start, d.kind = flow, r.pos, sequence
	closing := byte(']')
	if open == '{' {
		d.kind, closing = mapping, '}'
	}
	for first := true; ; first = false {
		if i = r.spaces(i); i >= r.end {
			return -1
		}
		if r.src[i] == closing {
			if !first {
				return -1 // after a comma
			}
			break
		}
		var key []byte
		keyStart := -1
		if open == '{' {
			keyStart = i
			var ok bool
			if key, i, ok = r.key(i); !ok || i >= r.end || r.src[i] != ' ' {
				return -1
			}
			if i = r.spaces(i); i >= r.end {
				return -1
			}
		}
		c := r.tree.add(n, key, keyStart)
		if i = r.flowValue(c, i, depth); i < 0 {
			return -1
		}
		if i = r.spaces(i); i >= r.end {
			return -1
		}
		if r.src[i] == closing {
			break
		}
		if r.src[i] != ',' || i+1 >= r.end || r.src[i+1] != ' ' && r.src[i+1] != '"' {
			return -1
		}
		i++
	}
	r.tree.nodes[n].end = i + 1
	return i + 1
}

func (r *blockReader) spaces(i int) int {
	for i < r.end && r.src[i] == ' ' {
		i++
	}
	return i
}

func (r *blockReader) flowValue(n int32, i, depth int) int {
	switch c := r.src[i]; {
	case c == '{', c == '[':
		r.pos = i
		return r.flow(n, depth+1)
	case c == '"', c == '\'':
		end, text, ok := r.quotedText(i)
		if !ok || end >= r.end {
			return -1
		}
		d := &r.tree.nodes[n]
		d.setText(text, quoted)
		d.start, d.end = i, end
		return end
	default:
		end := i
		for end < r.end && isKeyByte(r.src[end]) {
			end++
		}
		b := r.src[i:end]
		if len(b) == 0 || b[0] == '-' || end >= r.end || strings.IndexByte(" ,]}", r.src[end]) < 0 {
			return -1
		}
		// A plain scalar may go on after the space.
		if next := r.spaces(end); next >= r.end || strings.IndexByte(",]}", r.src[next]) < 0 {
			return -1
		}
		k, sure := plainKind(b)
		if !sure {
			return -1
		}
		d := &r.tree.nodes[n]
		d.kind, d.text, d.start, d.end = k, b, i, end
		d.normalise()
		return end
	}
}

// literal reads a literal block scalar ("|", "|-", "|+"); its text is decoded by
// literalText when it is needed.
func (r *blockReader) literal(n int32, col int) bool {
	d := &r.tree.nodes[n]
	d.kind, d.style = text, literal
	i := r.pos + 1
	if i < r.end && (r.src[i] == '-' || r.src[i] == '+') {
		d.style = literalStrip
		if r.src[i] == '+' {
			d.style = literalKeep
		}
		i++
	}
	i = r.spaces(i)
	if i >= r.end || r.src[i] != '\n' {
		return false // an indentation indicator, a comment, or no text at all
	}
	from := i + 1
	indent, blanks := 0, 0
	end := from // past the last line that has text
	line := from
	for line < r.end {
		i := line
		limit := r.end
		if indent > 0 {
			limit = min(limit, line+indent)
		}
		for i < limit && r.src[i] == ' ' {
			i++
		}
		if i == r.end {
			// Only spaces before the end: nothing that counts, unless they go past the indentation.
			line = r.end
			break
		}
		switch c := r.src[i]; {
		case c == '\n':
			if indent == 0 {
				blanks = max(blanks, i-line)
			}
			line = i + 1
			continue
		case indent == 0:
			if i-line <= col {
				goto done
			}
			if indent = i - line; c == '\t' || blanks > indent {
				return false
			}
		case i < line+indent:
			if c == '\t' {
				return false
			}
			goto done
		}
		if j := bytes.IndexByte(r.src[i:r.end], '\n'); j >= 0 {
			line = i + j + 1
		} else {
			line = r.end
		}
		end = line
	}
done:
	if indent == 0 && d.style == literalKeep {
		return false
	}
	d.last = int32(indent)
	d.text = r.src[from:line]
	if indent == 0 {
		d.text = nil
	} else if d.style != literalKeep {
		d.text = r.src[from:end]
	}
	return r.find(line) && r.col <= col
}

// literalText decodes a literal's lines into buf, which may be nil, and returns it.
func literalText(buf []byte, d *node) []byte {
	b, indent := d.text, int(d.last)
	if cap(buf) < len(b) {
		buf = make([]byte, 0, len(b))
	}
	buf = buf[:0]
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n') + 1
		if end == 0 {
			end = len(b)
		}
		// A line shorter than the indentation is blank: its spaces are no text.
		if skip := min(indent, end-1); end > indent || b[end-1] == '\n' {
			buf = append(buf, b[skip:end]...)
		}
		b = b[end:]
	}
	switch d.style {
	case literal:
		for n := len(buf); n > 1 && buf[n-1] == '\n' && buf[n-2] == '\n'; n-- {
			buf = buf[:n-1]
		}
		if len(buf) == 1 && buf[0] == '\n' {
			buf = buf[:0]
		}
	case literalStrip:
		for len(buf) > 0 && buf[len(buf)-1] == '\n' {
			buf = buf[:len(buf)-1]
		}
	}
	return buf
}
