package renderer

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A blockReader reads the YAML that charts are mostly written in, at many times
// the speed of a library, and with the place of every value: block mappings and
// sequences, block, plain and quoted scalars, flow collections of simple words. It
// takes only what it is certain of, and leaves every document that has anything else
// in it (anchors, tags, complex keys, CRLF, tabs in odd places, what may be a number)
// to the library. What it takes it reads as sigs.k8s.io/yaml does; FuzzBlockReader
// holds the two together.
type blockReader struct {
	src   []byte // the stream
	end   int    // of the document
	pos   int    // first character of the current line that is no space
	col   int    // its column; -1 past the last line
	line  int    // start of the current line
	depth int
	tree  *tree
	ahead keyAt // that isKey found last
}

// A keyAt is a key and where it begins; after is the offset past its colon.
type keyAt struct {
	at, after int
	key       []byte
}

const (
	maxBlockDepth = 100 // far deeper than manifests are, far from a deep stack
	maxFlowDepth  = 32  // likewise
	maxBlockKey   = 512 // bytes to the colon; YAML's own limit is 1024 characters
)

// readBlock reads src[from:end] as one document, or says that it leaves it to the library.
// The tree is read into one that may have been used before, and returned.
func readBlock(into *tree, src []byte, from, end int) (*tree, bool) {
	if !plainBytes(src[from:end]) {
		return nil, false
	}
	r := blockReader{src: src, end: end, tree: into}
	into.reset()
	if !r.begin(from) || r.col != 0 || !r.document() || r.col >= 0 {
		return nil, false
	}
	return r.tree, true
}

// document reads the collection that is the document.
func (r *blockReader) document() bool {
	if c := r.src[r.pos]; c == '{' || c == '[' {
		return r.scalar(root, -1)
	}
	return r.node(root)
}

// readBlockEntry reads the value of one key in column 0, which begins on the next
// line, and stops where the value ends. The root of the tree is that value.
func readBlockEntry(into *tree, src []byte, from, end int) (*tree, bool) {
	r := blockReader{src: src, end: end, tree: into}
	into.reset()
	if !r.begin(from) || r.col <= 0 || !r.node(root) || r.col > 0 {
		return nil, false
	}
	// The line that it stops at begins with what is no line break either.
	if !plainBytes(src[from:min(r.line+len("\u2028"), end)]) {
		return nil, false
	}
	return r.tree, true
}

// plainBytes says whether a text, which is UTF-8, holds only characters that YAML
// takes as they are: no control characters, no byte-order marks, no line breaks but LF.
func plainBytes(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		odd := oddBytes(binary.LittleEndian.Uint64(b[0:8])) | oddBytes(binary.LittleEndian.Uint64(b[8:16])) |
			oddBytes(binary.LittleEndian.Uint64(b[16:24])) | oddBytes(binary.LittleEndian.Uint64(b[24:32]))
		if odd&highBits != 0 && !plainRun(b, 32) {
			return false
		}
	}
	return plainRun(b, len(b))
}

// oddBytes returns the bytes of a word of UTF-8 with the high bit set in some, if any of
// them is a control character other than LF, or no ASCII.
func oddBytes(w uint64) uint64 {
	// LF is 0 here, and the other control characters are below 0x20 still. While all is
	// ASCII no carry goes from one byte to the next; what is not, and 0x7f, w+1 tells.
	controls := w ^ '\n'*lowBits
	return (controls+0x7f*lowBits)&^(controls+0x60*lowBits) | (w + lowBits)
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
	if from < r.end && r.src[from] == '\n' {
		return r.find(from + 1)
	}
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
		i := r.spaces(line)
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
	i := r.spaces(r.pos)
	switch {
	case i == r.end || r.src[i] == '\n' || r.src[i] == '#' && i > r.pos:
		if !r.advance(i) {
			return false
		}
		switch {
		case r.col > col:
			return r.below(n, col)
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
	if r.isKey(i) {
		r.col = i - r.line
		return r.node(n)
	}
	return r.scalar(n, col)
}

// below reads a value that begins on a line of its own.
func (r *blockReader) below(n int32, col int) bool {
	if !r.atItem() && !r.isKey(r.pos) {
		return r.scalar(n, col)
	}
	return r.node(n)
}

// key reads "key:" of a block mapping at an offset and returns the key and the
// offset past the colon.
func (r *blockReader) key(i int) (key []byte, after int, ok bool) {
	if k := &r.ahead; k.at == i && k.after > i {
		return k.key, k.after, true
	}
	key, after, ok = r.anyKey(i)
	if ok && after < r.end && r.src[after] != ' ' && r.src[after] != '\n' {
		return nil, 0, false
	}
	return key, after, ok
}

// isKey says whether a key stands at an offset: whether a collection begins there is
// asked before it is read.
func (r *blockReader) isKey(i int) bool {
	key, after, ok := r.key(i)
	if ok {
		r.ahead = keyAt{i, after, key}
	}
	return ok
}

// anyKey reads a key and the colon behind it, whatever follows that.
func (r *blockReader) anyKey(i int) (key []byte, after int, ok bool) {
	switch c := r.src[i]; {
	case c == '"' || c == '\'':
		end, simple := r.quoted(i)
		if !simple {
			return nil, 0, false
		}
		key, after = r.src[i+1:end-1], end
	default:
		for after = i; after < r.end && inKey.of(r.src[after]); after++ {
		}
		key = r.src[i:after]
		if k, sure := plainKind(key); !sure || k != text {
			return nil, 0, false
		}
	}
	if after = r.spaces(after); after-i > maxBlockKey || after >= r.end || r.src[after] != ':' {
		return nil, 0, false
	}
	return key, after + 1, true
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
		case c == '\n', c == '\\' && quote == '"':
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
	case '|', '>':
		return r.blockScalar(n, col)
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
		return r.plain(d, col)
	}
	return r.endScalar(col)
}

// plain reads a plain scalar, which goes on for as long as lines are indented
// deeper than the collection that it is in.
func (r *blockReader) plain(d *node, col int) bool {
	end := r.lineEnd()
	b, comment, ok := plainLine(r.src[r.pos:end])
	if !ok || !plainStart(b) {
		return false
	}
	d.end = r.pos + len(b)
	if !r.advance(end) {
		return false
	}
	if r.col > col {
		if comment {
			return false
		}
		b, ok = r.plainLines(d, b, end, col)
	}
	return ok && d.setPlain(b) && r.col <= col
}

// plainLine takes the part of a plain scalar that stands on a line, and says
// whether a comment follows it.
func plainLine(b []byte) (part []byte, comment, ok bool) {
	for i, c := range b {
		if !endsPlain.of(c) {
			continue
		}
		switch {
		case c == '\t', c == ':' && (i+1 == len(b) || b[i+1] == ' '):
			return nil, false, false
		case c == ' ' && i+1 < len(b) && b[i+1] == '#':
			b, comment = b[:i], true
		default:
			continue
		}
		break
	}
	b = bytes.TrimRight(b, " ")
	return b, comment, len(b) > 0
}

// plainLines folds a plain scalar of several lines: at is the end of the first,
// first what stands on it. It leaves the reader at the line after the last.
func (r *blockReader) plainLines(d *node, first []byte, at, col int) ([]byte, bool) {
	folded := bytes.Clone(first)
	for comment := false; r.col > col; {
		// A comment between the lines ends the scalar.
		breaks := bytes.Count(r.src[at:r.line], []byte("\n"))
		if comment || bytes.IndexByte(r.src[at:r.line], '#') >= 0 {
			return nil, false
		}
		at = r.lineEnd()
		var part []byte
		var ok bool
		if part, comment, ok = plainLine(r.src[r.pos:at]); !ok {
			return nil, false
		}
		if breaks == 1 {
			folded = append(folded, ' ')
		} else {
			folded = append(folded, lineBreaks(breaks-1)...)
		}
		folded = append(folded, part...)
		d.end = r.pos + len(part)
		if !r.advance(at) {
			return nil, false
		}
	}
	return folded, true
}

// endScalar passes over what may follow a scalar on its line, and refuses a line
// below it that would continue it.
func (r *blockReader) endScalar(col int) bool {
	i := r.spaces(r.pos)
	if i < r.end && r.src[i] != '\n' && (r.src[i] != '#' || i == r.pos) {
		return false
	}
	return r.advance(i) && r.col <= col
}

// plainStart says whether a plain scalar may begin so.
func plainStart(b []byte) bool {
	switch c := b[0]; c {
	case '-', '?', ':':
		return len(b) > 1 && b[1] != ' '
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	}
	return true
}

func (d *node) setText(b []byte, s nodeStyle) { d.kind, d.text, d.style = text, b, s }

// setPlain takes a plain scalar: a string as it is, anything else as its JSON text.
func (d *node) setPlain(b []byte) bool {
	k, sure := plainKind(b)
	switch k {
	case null:
		b = nil
	case boolean:
		is, _ := booleanWord(b)
		b = []byte(strconv.FormatBool(is))
	case number:
		b = numberText(b)
	}
	d.kind, d.text = k, b
	return sure
}

// quotedText reads a quoted scalar and returns its end and its text.
func (r *blockReader) quotedText(i int) (end int, text []byte, ok bool) {
	if end, simple := r.quoted(i); simple {
		return end, r.src[i+1 : end-1], true
	}
	quote := r.src[i]
	var b []byte
	solid := 0 // of b, what is no white space that a line break swallows
	for j := i + 1; j < r.end; j++ {
		c := r.src[j]
		switch {
		case c == '\n':
			next, breaks := r.quotedBreaks(j)
			if next < 0 {
				return 0, nil, false
			}
			b = b[:solid]
			if breaks == 1 {
				b = append(b, ' ')
			} else {
				b = append(b, lineBreaks(breaks-1)...)
			}
			solid = len(b)
			j = next - 1
			continue
		case c == quote && quote == '\'' && j+1 < r.end && r.src[j+1] == '\'':
			j++
		case c == quote:
			return j + 1, b, true
		case c == '\\' && quote == '"' && j+1 < r.end && r.src[j+1] == '\n':
			next, breaks := r.quotedBreaks(j + 1)
			if next < 0 {
				return 0, nil, false
			}
			b = append(b, lineBreaks(breaks-1)...)
			solid = len(b)
			j = next - 1
			continue
		case c == '\\' && quote == '"':
			var n int
			if b, n = unescape(b, r.src[j+1:r.end]); n == 0 {
				return 0, nil, false
			}
			solid = len(b)
			j += n
			continue
		}
		b = append(b, c)
		if c != ' ' && c != '\t' {
			solid = len(b)
		}
	}
	return 0, nil, false
}

// quotedBreaks passes over the line breaks in a quoted scalar and the white space
// around them; next is -1 where a document marker may stand.
func (r *blockReader) quotedBreaks(i int) (next, breaks int) {
	for ; i < r.end; i++ {
		switch r.src[i] {
		case '\n':
			breaks++
			if i+1 < r.end && (r.src[i+1] == '-' || r.src[i+1] == '.') {
				return -1, 0
			}
		case ' ', '\t':
		default:
			return i, breaks
		}
	}
	return -1, 0
}

func lineBreaks(n int) []byte { return bytes.Repeat([]byte("\n"), n) }

// escapes are the characters that one letter behind a backslash stands for
// (YAML 1.1, section 5.7), without the slash, which go.yaml.in/yaml/v2 refuses.
var escapes = [256]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
	' ': " ", '"': `"`, '\'': "'", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
}

// unescape appends the character that stands behind a backslash, and returns how
// many bytes it took; none when it is no escape.
func unescape(b, after []byte) ([]byte, int) {
	if len(after) == 0 {
		return b, 0
	}
	if s := escapes[after[0]]; s != "" {
		return append(b, s...), 1
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[after[0]]
	if size == 0 || len(after) <= size {
		return b, 0
	}
	c, err := strconv.ParseUint(string(after[1:1+size]), 16, 32)
	if err != nil || c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
		return b, 0
	}
	return utf8.AppendRune(b, rune(c)), 1 + size
}

// flow reads a flow collection of quoted and of plain words and returns its end; -1
// leaves it to the library.
func (r *blockReader) flow(n int32, depth int) int {
	if depth > maxFlowDepth {
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
		if i = r.flowSpaces(i); i >= r.end {
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
			if key, i, ok = r.anyKey(i); !ok || i >= r.end {
				return -1
			}
			// Behind a plain key the colon may be a part of it.
			if c := r.src[keyStart]; c != '"' && c != '\'' && r.src[i] != ' ' && r.src[i] != '\n' {
				return -1
			}
			if i = r.flowSpaces(i); i >= r.end {
				return -1
			}
		}
		c := r.tree.add(n, key, keyStart)
		if i = r.flowValue(c, i, depth); i < 0 {
			return -1
		}
		if i = r.flowSpaces(i); i >= r.end {
			return -1
		}
		if r.src[i] == closing {
			break
		}
		if r.src[i] != ',' {
			return -1
		}
		i++
	}
	r.tree.nodes[n].end = i + 1
	return i + 1
}

// spaces passes over spaces.
func (r *blockReader) spaces(i int) int {
	const spaces = ' ' * lowBits
	if i < r.end && r.src[i] != ' ' {
		return i
	}
	for ; i+8 <= r.end; i += 8 {
		if other := binary.LittleEndian.Uint64(r.src[i:]) ^ spaces; other != 0 {
			return i + bits.TrailingZeros64(other)/8
		}
	}
	for i < r.end && r.src[i] == ' ' {
		i++
	}
	return i
}

// flowSpaces passes over spaces and line breaks in a flow collection, up to what may
// be a document marker.
func (r *blockReader) flowSpaces(i int) int {
	for i = r.spaces(i); i < r.end && r.src[i] == '\n'; i = r.spaces(i) {
		if i++; i < r.end && (r.src[i] == '-' || r.src[i] == '.') {
			return r.end
		}
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
		for end < r.end && inKey.of(r.src[end]) {
			end++
		}
		b := r.src[i:end]
		if len(b) == 0 || len(b) == 1 && b[0] == '-' || end >= r.end {
			return -1
		}
		// A plain scalar may go on after white space.
		if next := r.flowSpaces(end); next >= r.end || strings.IndexByte(",]}", r.src[next]) < 0 {
			return -1
		}
		d := &r.tree.nodes[n]
		if !d.setPlain(b) {
			return -1
		}
		d.start, d.end = i, end
		return end
	}
}

// blockScalar reads a literal or folded block scalar; its text is decoded by
// blockText when it is needed.
func (r *blockReader) blockScalar(n int32, col int) bool {
	d := &r.tree.nodes[n]
	d.kind = text
	indent, i, ok := r.blockHeader(d, col)
	if !ok {
		return false
	}
	from := i
	blanks := 0
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
	keep := d.style == literalKeep || d.style == foldedKeep
	switch {
	case end == from && keep:
		return false
	case keep:
		d.text = r.src[from:line]
	default:
		d.text = r.src[from:end]
	}
	d.indent = int32(indent)
	return r.find(line) && r.col <= col
}

// blockHeader reads the line on which a block scalar begins, and returns the
// indentation that it asks for, 0 if none, and the offset of the next line.
func (r *blockReader) blockHeader(d *node, col int) (indent, next int, ok bool) {
	d.style = literal
	if r.src[r.pos] == '>' {
		d.style = folded
	}
	i := r.pos + 1
	chomped := false
	for ; i < r.end; i++ {
		c := r.src[i]
		switch {
		case c == '+' && !chomped:
			d.style, chomped = d.style+literalKeep-literal, true
		case c == '-' && !chomped:
			d.style, chomped = d.style+literalStrip-literal, true
		case c >= '1' && c <= '9' && indent == 0:
			indent = col + int(c-'0')
		default:
			goto indicated
		}
	}
indicated:
	indicators := i
	i = r.spaces(i)
	if i < r.end && r.src[i] == '#' && i > indicators {
		if j := bytes.IndexByte(r.src[i:r.end], '\n'); j >= 0 {
			i += j
		}
	}
	if i >= r.end || r.src[i] != '\n' {
		return 0, 0, false // no text at all, or something that belongs to no one
	}
	return indent, i + 1, true
}

// blockText decodes a block scalar's lines.
func blockText(v *value) []byte { return appendBlockText(make([]byte, 0, len(v.text)), v) }

// appendBlockText appends a block scalar's decoded lines to a buffer.
func appendBlockText(b []byte, v *value) []byte {
	if v.style >= folded {
		return appendFolded(b, v.text, int(v.indent), v.style)
	}
	for line := range literalLines(v) {
		b = append(b, line...)
	}
	return b
}

// isLiteral says whether a scalar is a literal block scalar.
func (v *value) isLiteral() bool { return v.style >= literal && v.style < folded }

// literalLines ranges over the text of a literal, line by line, with line breaks.
func literalLines(v *value) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		b, indent := v.text, int(v.indent)
		strip := v.style == literalStrip
		for len(b) > 0 {
			end := bytes.IndexByte(b, '\n') + 1
			last := end == 0 || end == len(b)
			if end == 0 {
				end = len(b)
			}
			line := b[:end]
			b = b[end:]
			if last && strip {
				line = bytes.TrimSuffix(line, []byte("\n"))
			}
			// A line shorter than the indentation is blank: its spaces are no text.
			switch {
			case len(line) > indent:
				line = line[indent:]
			case len(line) > 0 && line[len(line)-1] == '\n':
				line = line[len(line)-1:]
			default:
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

// appendFolded appends the decoded lines of a folded block scalar to buf.
func appendFolded(buf, b []byte, indent int, style nodeStyle) []byte {
	breaks := 0     // of blank lines, not yet written
	begun := false  // a line was written
	ended := false  // and had a break at its end
	spaced := false // and began with white space: nothing is folded beside it
	write := func(n int) { buf = append(buf, lineBreaks(n)...) }
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		hasBreak := end >= 0
		if !hasBreak {
			end = len(b)
		}
		line := b[:end]
		b = b[min(end+1, len(b)):]
		if len(line) <= indent {
			if hasBreak {
				breaks++
			}
			continue
		}
		line = line[indent:]
		blank := line[0] == ' ' || line[0] == '\t'
		switch {
		case !begun:
			write(breaks)
		case spaced || blank:
			write(1 + breaks)
		case breaks == 0:
			buf = append(buf, ' ')
		default:
			write(breaks)
		}
		begun, ended, spaced, breaks = true, hasBreak, blank, 0
		buf = append(buf, line...)
	}
	if ended && style != foldedStrip {
		write(1)
	}
	if style == foldedKeep {
		write(breaks)
	}
	return buf
}
