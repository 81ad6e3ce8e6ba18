package renderer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// sameMeaning says where a tree of the block reader and one of the library differ,
// "" if nowhere. Of keys given twice the last one counts.
func sameMeaning(a *tree, n int32, b *tree, m int32) string {
	x, y := &a.nodes[n], &b.nodes[m]
	if x.kind != y.kind {
		return fmt.Sprintf(" is %s, want %s (%q)", x.kind, y.kind, y.text)
	}
	switch x.kind {
	case text:
		if got, want := a.textOf(n), b.textOf(m); !bytes.Equal(got, want) {
			return fmt.Sprintf(" is %q, want %q", got, want)
		}
	case boolean, number:
		if !bytes.Equal(x.text, y.text) {
			return fmt.Sprintf(" is %s, want %s", x.text, y.text)
		}
	case sequence:
		c, d, i := x.first, y.first, 0
		for ; c != 0 && d != 0; c, d, i = a.nodes[c].next, b.nodes[d].next, i+1 {
			if diff := sameMeaning(a, c, b, d); diff != "" {
				return fmt.Sprintf("[%d]%s", i, diff)
			}
		}
		if c != 0 || d != 0 {
			return fmt.Sprintf(" has not the same number of items; %d are the same", i)
		}
	case mapping:
		got := make(map[string]int32)
		for c := range a.children(n) {
			got[string(a.nodes[c].key)] = c
		}
		want := 0
		for d := range b.children(m) {
			want++
			key := string(b.nodes[d].key)
			c, ok := got[key]
			if !ok {
				return fmt.Sprintf(" lacks the key %q", key)
			}
			if diff := sameMeaning(a, c, b, d); diff != "" {
				return fmt.Sprintf(".%q%s", key, diff)
			}
		}
		if len(got) != want {
			return fmt.Sprintf(" has %d keys, want %d", len(got), want)
		}
	}
	return ""
}

// placesWrong says which place in a tree of the block reader points at something
// else than the node, "" if none does. What stands at a place is read by the library.
func placesWrong(src []byte, t *tree, n int32, inMapping bool) string {
	d := &t.nodes[n]
	wrong := func(what string) string { return fmt.Sprintf("%s of %s %q", what, d.kind, d.key) }
	if inMapping {
		l := locator{stream: src, t: t}
		past := l.pastKey(n)
		if past < 0 {
			return wrong("the key's start")
		}
		if written := bytes.TrimRight(src[d.keyStart:past-1], " "); !bytes.Equal(written, d.key) {
			entry, err := readValues(append(bytes.Clone(written), ": a"...))
			if err != nil || entry.stringAt(root, string(d.key)) != "a" {
				return wrong("the key")
			}
		}
	}
	switch {
	case d.kind == null && d.start < 0 && d.end < 0:
	case d.start < 0:
		return wrong("the start")
	case d.end >= 0:
		if d.end < d.start || d.end > len(src) {
			return wrong("the end")
		}
		if d.kind == text && bytes.Equal(src[d.start:d.end], d.text) {
			break
		}
		value, err := readValues(append([]byte("- "), src[d.start:d.end]...))
		if err != nil {
			return wrong("the span")
		}
		if diff := sameMeaning(t, n, value, value.nodes[root].first); diff != "" {
			return wrong("the span") + diff
		}
	case d.kind == text && d.style >= literal:
		if c := src[d.start]; c != '|' && c != '>' {
			return wrong("the start")
		}
	case d.kind == mapping && d.style == flow:
		if src[d.start] != '{' {
			return wrong("the start")
		}
	case d.kind == sequence && d.style == flow:
		if src[d.start] != '[' {
			return wrong("the start")
		}
	case d.kind == mapping:
		if d.start != t.nodes[d.first].keyStart {
			return wrong("the start")
		}
	case d.kind == sequence:
		if src[d.start] != '-' {
			return wrong("the start")
		}
	}
	for c := range t.children(n) {
		if w := placesWrong(src, t, c, d.kind == mapping); w != "" {
			return w
		}
	}
	return ""
}

// checkBlockReader holds the block reader against the library on one document, and
// says whether it took it.
func checkBlockReader(t *testing.T, src []byte) bool {
	t.Helper()
	// The stream was checked before: checkText.
	if !utf8.Valid(src) || bytes.IndexByte(src, 0) >= 0 {
		return false
	}
	got, ok := readBlock(newTree(8), src, 0, len(src))
	if !ok {
		return false
	}
	want, err := readValues(src)
	if err != nil {
		t.Fatalf("taken, but the library says: %v\n%q", err, src)
	}
	if diff := sameMeaning(got, root, want, root); diff != "" {
		t.Fatalf("the document%s\n%q", diff, src)
	}
	if wrong := placesWrong(src, got, root, false); wrong != "" {
		t.Fatalf("%s is not where it is said to be\n%q", wrong, src)
	}
	// In the middle of a stream it is read as it is alone.
	before, after := []byte("a: 'x\n---\n"), []byte("---\nb: \"y\n")
	stream := bytes.Join([][]byte{before, src, after}, nil)
	middle, ok := readBlock(newTree(8), stream, len(before), len(before)+len(src))
	if !ok {
		t.Fatalf("taken alone, but not in the middle of a stream\n%q", src)
	}
	if diff := sameMeaning(middle, root, want, root); diff != "" {
		t.Fatalf("in the middle of a stream the document%s\n%q", diff, src)
	}
	return true
}

// checkReadHead holds what is read of each document's metadata alone against the
// library's reading of the whole document.
func checkReadHead(t *testing.T, stream []byte) {
	t.Helper()
	if checkText(stream) != nil {
		return
	}
	s := splitter{stream: stream}
	for d, ok := s.next(); ok; d, ok = s.next() {
		metadata, ok := readHead(newTree(8), stream, &d)
		if !ok {
			continue
		}
		want, err := readValues(stream[d.body:d.end])
		if err != nil || want.get(root, "metadata") == 0 {
			continue
		}
		if diff := sameMeaning(metadata, root, want, want.get(root, "metadata")); diff != "" {
			t.Fatalf("metadata%s\n%q", diff, stream)
		}
	}
}

// blockCases are documents for the block reader, by theme, and whether it is to
// take them: what it takes of real charts must not silently become less.
var blockCases = []struct {
	name  string
	taken bool
	doc   string
}{
	{"a map", true, "a: b\nc: d\n"},
	{"no final line break", true, "a: b"},
	{"an empty document", false, ""},
	{"comments and blank lines", true, "# one\n\na: b # two\n   # three\n\nc:  # four\n  # five\n  d: e\n#\n"},
	{"a hash that begins no comment", true, "a: b#c\nd: 'e' # f\n"},
	{"a hash right behind a quote", false, "a: 'b'#c\n"},
	{"maps in maps", true, "a:\n  b:\n      c: d\n  e: f\ng: h\n"},
	{"a list below its key", true, "a:\n- b\n- c\nd:\n  - e\n  - f\n"},
	{"lists in lists", true, "- - a\n  - - b\n    - c\n- -   d\n-\n  - e\n"},
	{"maps in lists", true, "-  a: b\n   c: d\n- e:\n  - f\n  g: h\n-\n  i: j\n"},
	{"nothing", true, "a:\nb: ~\nc: null\nd: NULL\ne:\n-\n- # f\n-\n"},
	{"booleans", true, "a: [y, no, True, oN, ON, oFF, off]\nb: yes\nc: Yess\n"},
	{"a boolean as a key", false, "on: 1\n"},
	{"a quoted boolean as a key", true, "'on': 1\n\"no\": 2\n"},
	{"a number as a key", false, "80: tcp\n"},
	{"a null as a key", false, "null: a\n"},
	{"keys in quotes", true, "'a b': c\n\"d: e\": f\n\"\": g\n\"<<\": {h: i}\n"},
	{"an escape in a key", false, "\"a\\n\": b\n"},
	{"a merge key", false, "a: {}\n<<: {b: c}\n"},
	{"white space before a colon", true, "a : b\n'c'  : d\n"},
	{"a long key", false, strings.Repeat("k", 1025) + ": a\n"},
	{"a key twice", true, "a: b\nc: d\na:\n  e: f\n"},
	{"integers", true, "a: 1\nb: -17\nc: 0\nd: 0777\ne: 999999999999999999\nf: -010\n"},
	{"long integers", false, "a: 18446744073709551616\n"},
	{"an octal that is none", false, "a: 08\n"},
	{"floats", true, "a: 0.5\nb: 1.50\nc: 10.0\nd: -2.25\ne: 0.000001\n"},
	{"small floats", false, "a: 0.0000001\n"},
	{"other numbers", false, "a: 1e3\n"},
	{"a hexadecimal number", false, "a: 0x1F\n"},
	{"an infinity", false, "a: .inf\n"},
	{"an underscore in a number", false, "a: 1_000\n"},
	{"what only looks like a number", true, "a: 1.2.3\nb: 1e\nc: 5Gi\nd: 100m\ne: .5.\nf: 12:30:45\ng: 2001-12-14\nh: 2001-12-14T21:59:43Z\ni: .info\nj: -c\nk: +x\nl: .\nr: 30a482963a7489\no: 1-2\np: --\nq: -.e5\n"},
	{"a plain scalar", true, "a: b c  d\ne: f:g\nh: -i\nj: :k\nl: ?m\nz: o'p\"q\nr: $s\n"},
	{"a plain scalar of several lines", true, "a: b\n  c  \n   - d\ne: f\n"},
	{"paragraphs in a plain scalar", true, "a: b\n   c\n\n  d\n  # e\nf: g\n"},
	{"a comment within a plain scalar", false, "a: b\n  # c\n  d\n"},
	{"a comment line within a plain scalar", false, "a: b # c\n  d\n"},
	{"a colon within a plain scalar", false, "a: b: c\n"},
	{"a colon in a second line", false, "a: b\n  c: d\n"},
	{"a value on a line of its own", true, "a:\n  b c\nd:\n  # e\n    {}\nf:\n  - g\nh:\n  'i'\nj:\n  |\n  k\nl:\n  null\n"},
	{"indicators that begin no plain scalar", false, "a: @b\n"},
	{"a backquote", false, "a: `b`\n"},
	{"a percent sign", false, "a: %b\n"},
	{"a tag", false, "a: !!str 1\n"},
	{"an anchor", false, "a: &b c\n"},
	{"an alias", false, "a: b\nc: *d\n"},
	{"a complex key", false, "? a\n: b\n"},
	{"a tab before a value", false, "a:\tb\n"},
	{"a tab as indentation", false, "a:\n\tb: c\n"},
	{"a tab in quotes", true, "a: 'b\tc'\nd: \"e\tf\"\n"},
	{"a tab in a plain scalar", false, "a: b\tc\n"},
	{"single quotes", true, "a: 'b''c'\nd: ''\ne: ''''\nf: '\\n'\n"},
	{"double quotes", true, "a: \"b\\\"c\\\\d\\n\\t\\r\\0\\a\\b\\v\\f\\e\\ \\'\\N\\_\\L\\P\\x41\\u00e9\\U0001F600\"\nb: \"\"\n"},
	{"an escaped slash", false, "a: \"b\\/c\"\n"},
	{"an escaped surrogate", false, "a: \"\\ud83d\\ude00\"\n"},
	{"an escape cut short", false, "a: \"\\x4\"\n"},
	{"quotes over several lines", true, "a: 'b \t\n  c\n\n\n  d'\ne: \"f \\\n   g\\ \n\n  h \\\n\n  i\"\n"},
	{"quotes that do not end", false, "a: 'b\nc: d\n"},
	{"a marker in quotes", false, "a: 'b\n--- c'\n"},
	{"text behind quotes", false, "a: 'b' c\n"},
	{"a literal", true, "a: |\n  b\n   c\n\n  d\ne: f\n"},
	{"a literal at the end", true, "a: |\n  b\n\n\n"},
	{"a literal without a final line break", true, "a: |\n  b"},
	{"a literal that strips", true, "a: |-\n  b\n\nc: |-\n    d\n"},
	{"a literal that keeps", true, "a: |+\n  b\n\n\nc: d\n"},
	{"a literal with blank lines first", true, "a: |\n\n \n  b\n"},
	{"a literal with a deeper blank line first", false, "a: |\n    \n  b\n"},
	{"a literal that says its indentation", true, "a: |2\n    b\n  c\nd: |1-\n  e\nf:\n- |+2\n   g\n"},
	{"a literal with a comment", true, "a: | # b\n  c # d\n# e\nf: g\n"},
	{"an empty literal", true, "a: |\nb: |-\n\nc: d\n"},
	{"an empty literal that keeps", false, "a: |+\n\nb: c\n"},
	{"a literal of spaces", true, "a: |\n  b\n     \n  \nc: d\n"},
	{"a literal with tabs", true, "a: |\n  b\n  \tc\td\n"},
	{"a literal with a tab before its indentation", false, "a: |\n  b\n\tc\n"},
	{"a literal with markers", true, "a: |\n  ---\n  ...\n  --- b\n"},
	{"a literal in a list", true, "- |\n  a\n- b: |\n    c\n- - |-\n   d\n"},
	{"a folded scalar", true, "a: >\n  b\n  c\n\n  d\n    e\n\n    f\n  g\n\n\n  h\ni: j\n"},
	{"a folded scalar that strips", true, "a: >-\n  b\n  c\n\n"},
	{"a folded scalar that keeps", true, "a: >+\n\n  b\n  \tc\n\n\nd: e\n"},
	{"a folded scalar without a final line break", true, "a: >\n\n  b\n  c"},
	{"flow lists", true, "a: []\nb: [ ]\nc: [d, 'e', \"f\", 1, true, null, -1, g/h]\ni: [[j], [{k: l}]]\n"},
	{"flow maps", true, "a: {}\nb: {c: d, 'e': f, \"g\": \"h\", i: {j: k}}\nl: {\"m\":1,\"n\":\"o\"}\n"},
	{"flow over several lines", true, "a: [\n  b,\n  'c'\n]\nd:\n  {\n    e: f,\n\n    \"g\":\n      [h\n      ]}\n"},
	{"a comment in flow", false, "a: [b, # c\n  d]\n"},
	{"a comma too many", false, "a: [b,]\n"},
	{"a map in a flow list", false, "a: [b: c]\n"},
	{"a key without a value in flow", false, "a: {b, c: d}\n"},
	{"several words in flow", false, "a: [b c]\n"},
	{"a flow collection as a key", false, "[a]: b\n"},
	{"text behind a flow collection", false, "a: [b] c\n"},
	{"JSON", true, "{\"a\": {\"b\": [1, 2.5, true, null, \"c\\nd\"]}, \"e\": []}\n"},
	{"JSON over several lines", true, "{\n  \"a\": {\n    \"b\": [\n      1,\n      \"c\"\n    ]\n  }\n}\n"},
	{"deep flow", false, "a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n"},
	{"deep lists", false, strings.Repeat("- ", 200) + "a\n"},
	{"an item in the column of a map's keys", false, "a: b\n- c\n"},
	{"a key in the column of a list's items", false, "- a\nb: c\n"},
	{"a line between two indentations", false, "a:\n    b: c\n  d: e\n"},
	{"a line below a scalar", false, "a: 'b'\n  c: d\n"},
	{"no map or list", false, "a\n"},
	{"an indented document", false, "  a: b\n"},
	{"a separator", false, "---\na: b\n"},
	{"a separator inside", false, "a: b\n---\nc: d\n"},
	{"an end", false, "a: b\n...\n"},
	{"a directive", false, "%YAML 1.1\n---\na: b\n"},
	{"CRLF", false, "a: b\r\n"},
	{"a byte-order mark", false, "\ufeffa: b\n"},
	{"other line breaks", false, "a: b\u2028c\n"},
	{"a control character", false, "a: b\x01\n"},
	{"a control character behind a line break", false, "a: |\n  bcd\n\x0b\n"},
	{"a control character of two bytes", false, "a: b\u0084\n"},
	{"text beyond ASCII", true, "a: h\u00e9llo w\u00f6rld\n\u0062: '\U0001F600 \u2026'\nc: |\n  \u65e5\u672c\n"},
}

func TestBlockReaderTakesWhatItIsCertainOf(t *testing.T) {
	for _, c := range blockCases {
		t.Run(c.name, func(t *testing.T) {
			if taken := checkBlockReader(t, []byte(c.doc)); taken != c.taken {
				t.Errorf("taken is %v, want %v\n%q", taken, c.taken, c.doc)
			}
		})
	}
}

// corpus ranges over the streams of real charts that may lie beside the project.
func corpus(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob("../../shared/corpus/helm[34]/*.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	streams := make(map[string][]byte, len(files))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		streams[filepath.ToSlash(f)] = b
	}
	return streams
}

func TestBlockReaderAgreesWithTheLibraryOnRealCharts(t *testing.T) {
	streams := corpus(t)
	if len(streams) == 0 {
		t.Skip("no streams of real charts in ../shared/corpus")
	}
	k, err := newKinds(nil)
	if err != nil {
		t.Fatal(err)
	}
	all, taken := 0, 0
	seen := make(map[string]bool) // Helm 3 and Helm 4 mostly give the same documents
	for name, stream := range streams {
		s := splitter{stream: stream}
		for d, ok := s.next(); ok; d, ok = s.next() {
			if doc := string(stream[d.start:d.end]); seen[doc] {
				continue
			} else {
				seen[doc] = true
				checkReadHead(t, []byte(doc))
			}
			ok := checkBlockReader(t, stream[d.body:d.end])
			if t.Failed() {
				t.Fatalf("in %s", name)
			}
			if k.matters(&d, stream) {
				all++
				if ok {
					taken++
				}
			}
		}
	}
	t.Logf("%d of the %d documents that matter are read by the block reader", taken, all)
	if taken < all*99/100 {
		t.Errorf("%d of the %d documents that matter are read by the block reader, want 99 of 100", taken, all)
	}
}

// A generator makes documents out of the pieces that YAML's grammar is made of, put
// together almost rightly: random bytes rarely come near what matters.
type generator struct {
	*rand.Rand
	b    []byte
	keys []string // that are usual
}

// newGenerator returns a generator, and how many documents it is to make.
func newGenerator(t *testing.T, n int, keys ...string) (*generator, int) {
	t.Helper()
	number := func(name string, usual int) int {
		s := os.Getenv(name)
		if s == "" {
			return usual
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	seed := number("HELM_CHECKSUM_TEST_SEED", 1)
	return &generator{Rand: rand.New(rand.NewPCG(uint64(seed), 0)), keys: keys}, number("HELM_CHECKSUM_TEST_DOCUMENTS", n)
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) put(s string) { g.b = append(g.b, s...) }

// rarely says yes one time in n.
func (g *generator) rarely(n int) bool { return g.IntN(n) == 0 }

func (g *generator) word() string {
	return g.one("a", "b", "metadata", "x-y", "a.b/c", "yes", "null", "~", "12", "-1", "0.50", "017", "1e3", "0x1f", "_1", "1_0", ".5", ".nan", "-", "--", "---", "...", "$x",
		"<<", "a b", "a:b", "a#b", "a #b", "a: b", "b:", "?", "? a", "- a", ":", ":a", "\u00e9", "\U0001F600", "'", "\"", "a'b", "=", "*a", "&a", "!a", "%a", "@", "|", ">", "2001-01-01", "{", "]", ",", "a,b")
}

func (g *generator) quoted() string {
	q := g.one("'", "\"")
	s := q
	for range g.IntN(4) {
		s += g.one("a", " ", "  ", "\t", "''", "\\n", "\\", "\\\"", "\\x41", "\\u00e9", "\\/", "\\ ", "#", ": ", "\n", "\n ", "\n\n  ", "\\\n ", " \n", "\u00e9", "---", "\\N", "\\t")
	}
	return s + q
}

func (g *generator) space() string {
	if g.rarely(12) {
		return g.one("", "\t", "  \t", "   ", "\n", " \n ", " # c\n ")
	}
	return " "
}

func (g *generator) key() string {
	switch g.IntN(12) {
	case 0:
		return g.quoted()
	case 1:
		return g.word()
	}
	return g.one(g.keys...)
}

func (g *generator) flow(depth int) string {
	s, closing := "[", "]"
	isMap := g.rarely(2)
	if isMap {
		s, closing = "{", "}"
	}
	for i := range g.IntN(4) {
		if i > 0 {
			s += "," + g.space()
		}
		if isMap {
			s += g.key() + ":" + g.space()
		}
		switch {
		case depth < 3 && g.rarely(4):
			s += g.flow(depth + 1)
		case g.rarely(3):
			s += g.quoted()
		case g.rarely(3):
			s += g.word()
		default:
			s += g.one("a", "1", "true", "null")
		}
		if g.rarely(8) {
			s += g.space()
		}
	}
	return s + closing
}

func (g *generator) end() {
	if g.rarely(8) {
		g.put(g.one(" ", " # c", "#c", "\t", " x", "  "))
	}
	g.put("\n")
	if g.rarely(10) {
		g.put(g.one("\n", "  \n", "# c\n", "   # c\n", " \t\n", "---\n", "...\n", "\u0085"))
	}
}

// blockScalar makes one whose text is below an indentation.
func (g *generator) blockScalar(indent int) {
	g.put(g.one("|", ">"))
	g.put(g.one("", "", "-", "+", "2", "1-", "+2", "3", " # c"))
	g.put("\n")
	step := 1 + g.IntN(3)
	for range g.IntN(5) {
		n := indent + step
		if g.rarely(6) {
			n += g.IntN(5) - 2
		}
		g.put(strings.Repeat(" ", max(n, 0)) + g.one("", "a", "b c", "- x", "k: v", " d", "\te", "# f", "---", "  ") + "\n")
	}
	if g.rarely(6) && len(g.b) > 0 {
		g.b = g.b[:len(g.b)-1]
	}
}

// value makes what follows a key or a dash in a column.
func (g *generator) value(indent, depth int) {
	switch n := g.IntN(16); {
	case n < 3 && depth < 4:
		g.end()
		g.collection(indent+g.IntN(3), depth+1)
		return
	case n < 5:
		g.put(g.space())
		g.blockScalar(indent)
		return
	case n < 7:
		g.put(g.space() + g.quoted())
	case n < 9:
		g.put(g.space() + g.flow(0))
	case n < 10:
		g.put("\n" + strings.Repeat(" ", indent+g.IntN(3)) + g.one(g.word(), g.quoted(), g.flow(0)))
	case n < 11:
		g.put(g.space() + g.word() + "\n" + strings.Repeat(" ", indent+g.IntN(3)) + g.word())
	case n < 12:
	default:
		g.put(g.space() + g.word())
	}
	g.end()
}

func (g *generator) collection(indent, depth int) {
	isMap := !g.rarely(3)
	for range 1 + g.IntN(3) {
		n := indent
		if g.rarely(20) {
			n += g.IntN(3) - 1
		}
		g.put(strings.Repeat(" ", max(n, 0)))
		if !isMap {
			for g.put("-"); g.rarely(6); g.put("-") {
				g.put(g.one(" ", "  "))
				indent += 2
			}
			if g.rarely(3) {
				g.put(" " + g.key() + ":")
				g.value(indent+2, depth)
				if g.rarely(2) {
					g.put(strings.Repeat(" ", indent+2) + g.key() + ":")
					g.value(indent+2, depth)
				}
				continue
			}
		} else {
			g.put(g.key() + ":")
		}
		g.value(indent, depth)
	}
}

func TestBlockReaderAgreesWithTheLibraryOnGeneratedDocuments(t *testing.T) {
	g, n := newGenerator(t, 20_000, "a", "b", "c", "metadata", "data")
	taken := 0
	for range n {
		g.b = g.b[:0]
		g.collection(0, 0)
		if checkBlockReader(t, g.b) {
			taken++
		}
		checkReadHead(t, append([]byte("kind: ConfigMap\n"), g.b...))
	}
	t.Logf("%d of %d documents are read by the block reader", taken, n)
	if taken < n/10 {
		t.Errorf("only %d of %d documents are read by the block reader: this tests nothing", taken, n)
	}
}
