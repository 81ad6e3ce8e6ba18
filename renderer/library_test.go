package renderer

import (
	"errors"
	"strings"
	"testing"
)

// secret stands for what may not come out in a message.
const secret = "s3cr3t"

// libraryErrors are documents that the library refuses, each in its own words, with
// what is said of them and the line where a person would look.
var libraryErrors = []struct {
	doc  string
	line int
	text string
}{
	// The scanner's.
	{"a: b\nc: d: s3cr3t\n", 2, "mapping values are not allowed in this context"},
	{"c: d: s3cr3t\n", 1, "mapping values are not allowed in this context"},
	{"a: 1\ns3cr3t\nb: 2\n", 2, "could not find expected ':'"},
	{"a: 1\ns3cr3t\n\n# c\n\nb: 2\n", 2, "could not find expected ':'"},
	{"a: 1\nb: 2\ns3cr3t\n", 3, "could not find expected ':'"},
	{"a: 1\nb: 2\ns3cr3t", 3, "could not find expected ':'"},
	{"a:\n  b: 1\n  s3cr3t\n  c: 2\nd: e\n", 3, "could not find expected ':'"},
	{"a: 1\nb: - s3cr3t\n", 2, "block sequence entries are not allowed in this context"},
	{"a: 1\nb: ? s3cr3t\n", 2, "mapping keys are not allowed in this context"},
	{"a: 1\nb: 'x'\nc: 'two\n\nd: s3cr3t\ne: f\n", 3, "found unexpected end of stream"},
	{"a: \"one\nb: s3cr3t\n", 1, "found unexpected end of stream"},
	{"a: 'x\n  y'\nb: \"s3cr3t\n\n\n", 3, "found unexpected end of stream"},
	{"a: \"x\n--- s3cr3t\"\n", 2, "found unexpected document indicator"},
	{"a: b\n\tc: s3cr3t\n", 2, "found a tab character that violates indentation"},
	{"a:\n\ts3cr3t: b\n", 2, "found character that cannot start any token"},
	{"a: 1\nb: @s3cr3t\n", 2, "found character that cannot start any token"},
	{"a: 1\nb: `s3cr3t`\n", 2, "found character that cannot start any token"},
	{"a: |\n \n\ts3cr3t\n", 3, "found a tab character where an indentation space is expected"},
	{"a: b\nc: | s3cr3t\n", 2, "did not find expected comment or line break"},
	{"a: b\nc: |0\n  s3cr3t\n", 2, "found an indentation indicator equal to 0"},
	{"a: b\nc: \"s3cr3t\\/\"\n", 2, "found unknown escape character"},
	{"a: b\nc: \"s3cr3t\\xz\"\n", 2, "did not find expected hexdecimal number"},
	{"a: b\nc: \"s3cr3t\\uD800\"\n", 2, "found invalid Unicode character escape code"},
	{"a: b\nc: *\n", 2, "did not find expected alphabetic or numeric character"},
	{"a: b\nc: !<s3cr3t b\n", 2, "did not find the expected '>'"},
	{"a: b\nc: !a%zz s3cr3t\n", 2, "did not find URI escaped octet"},
	{"%s3cr3t 1\n---\na: b\n", 1, "found unknown directive name"},
	{"%YAML s3cr3t\n---\na: b\n", 1, "did not find expected version number"},
	// The parser's.
	{"a: b\nc: [s3cr3t\nd: e\n", 3, "did not find expected ',' or ']'"},
	{"a: b\nc: {d: s3cr3t\ne: f: g}\n", 3, "did not find expected ',' or '}'"},
	{"a: [s3cr3t}\n", 1, "did not find expected ',' or ']'"},
	{"a:\n  b: c\n s3cr3t: d\n", 3, "did not find expected key"},
	{"a: b\n- s3cr3t\n", 2, "did not find expected key"},
	{"a: b\nc: 'd' s3cr3t\n", 2, "did not find expected key"},
	{"- a\ns3cr3t: b\n", 2, "did not find expected '-' indicator"},
	{"a: b\nc: ]\n", 2, "did not find expected node content"},
	{"a: ,\n", 1, "did not find expected node content"},
	{"a: b\nc: !x!y s3cr3t\n", 2, "found undefined tag handle"},
	{"%YAML 1.1\n%YAML 1.1\n---\na: s3cr3t\n", 2, "found duplicate %YAML directive"},
	{"%YAML 3.0\n---\na: s3cr3t\n", 1, "found incompatible YAML document"},
	// The reader's.
	{"a: b\nc: s3cr3t\nd: \x01\n", 3, "control characters are not allowed"},
	{"a: b\nc: \u0084\n", 2, "control characters are not allowed"},
	// The decoder's.
	{"a: b\nc: *s3cr3t\n", 2, "an alias whose anchor does not exist"},
	{"a: b\nc: &s3cr3t [*s3cr3t]\n", 2, "an anchor that contains itself"},
	{"a: b\nc:\n  ? [s3cr3t]\n  : d\n", 3, "a map or list as a key"},
	{"a: b\n? {s3cr3t: c}\n: d\n", 1, "a map or list as a key"},
	{"a: b\nc:\n  d: e\n  null: s3cr3t\n", 3, "a key that is neither a string, a number nor a boolean"},
	{"a: b\nc: !!int s3cr3t\n", 2, "a value that does not fit its tag"},
	{"a: !!int 1\nb: !!int \"s3cr3t\"\n", 2, "a value that does not fit its tag"},
	{"a: !!binary aGk=\nc: !!binary s3cr3t!\n", 2, "a !!binary value that is not base64"},
	{"a: b\nc:\n  <<: s3cr3t\n", 3, "a merge key (<<) whose value is not a map"},
	{"a: b\nc: [1, .inf]\nd: s3cr3t\n", 2, "a number that JSON can't hold (.inf or .nan)"},
	{"a: b\nc: -.Inf\n", 2, "a number that JSON can't hold (.inf or .nan)"},
	{"a: b\n.nan: {.NaN: .nan}\n", 2, "a number that JSON can't hold (.inf or .nan)"},
	{"a: &a s3cr3t" + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n", 1, "document contains excessive aliasing"},
	{"a: " + strings.Repeat("[", 20_000), 1, "exceeded max depth of 10000"},
}

func TestLibraryErrorsSayWhereAndQuoteNothing(t *testing.T) {
	for _, c := range libraryErrors {
		name := c.doc[:min(len(c.doc), 40)]
		for _, eol := range []string{"\n", "\r\n"} {
			_, err := readValues([]byte(strings.ReplaceAll(c.doc, "\n", eol)))
			var e *lineError
			if !errors.As(err, &e) {
				t.Errorf("%q: got %v, want an error with a line", name, err)
				continue
			}
			line := max(e.line, 1) // 0 when the library gives none
			if line != c.line || e.text != c.text {
				t.Errorf("%q: got line %d: %s\nwant line %d: %s", name, line, e.text, c.line, c.text)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q: the error quotes the document: %v", name, err)
			}
		}
	}
}

// Aliases may be used as much as real documents do.
func TestAliasesMayRepeatMuch(t *testing.T) {
	items := "x: &x {a: b, c: [d, e, f], g: {h: i}}\n" + "list:\n" + strings.Repeat("- *x\n", 5000)
	if _, err := readValues([]byte(items)); err != nil {
		t.Error(err)
	}
}
