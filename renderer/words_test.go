package renderer

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWordsOfBytes holds what looks at many bytes at once against what looks at one after
// another: every character below 0x100, and those at the edges of what is told apart
// three in a row, where a carry from one byte to the next would show.
func TestWordsOfBytes(t *testing.T) {
	edges := []rune{0, 1, '\t', '\n', '\v', '\r', 0x1f, ' ', '!', '*', '-', 0x7e, 0x7f, 0x80, 0x85, 0x9f, 0xa0, 0xff, 0x100,
		0x7ff, 0x800, 0x2028, 0x2029, 0xfeff, 0xfffd, 0xfffe, 0xffff, utf8.MaxRune}
	const before, after = 40, 40
	frame := strings.Repeat("a", before+after)
	check := func(s string) {
		b := []byte(s)
		if got, want := plainBytes(b), plainByRune(s); got != want {
			t.Fatalf("plainBytes(%q) = %t", s, got)
		}
		if got, want := outdented(b, 0), outdentedByByte(s); got != want {
			t.Fatalf("outdented(%q) = %d, want %d", s, got, want)
		}
		for i, c := range b[:usualPrefix(b)] {
			if c == 0 || c >= utf8.RuneSelf {
				t.Fatalf("usualPrefix(%q) passes over the byte at %d", s, i)
			}
		}
		if err := checkText(b); (err != nil) != strings.Contains(s, "\x00") {
			t.Fatalf("checkText(%q): %v", s, err)
		}
	}
	for r := range rune(0x100) {
		for at := range before {
			check(frame[:at] + string(r) + frame[at:])
		}
	}
	for _, x := range edges {
		for _, y := range edges {
			for _, z := range edges {
				text := string([]rune{x, y, z})
				// All places in a word and in the 32 bytes that are taken at once.
				for at := 0; at < 34; at += 1 + (at+int(x+y+z))%5 {
					check(frame[:at] + text + frame[at:])
				}
				check(text)
			}
		}
	}
}

// TestUsualTextIsPassedOver pins that checkText need not look at bytes one by one.
func TestUsualTextIsPassedOver(t *testing.T) {
	text := strings.Repeat("key: value~\n\t\x01\x7f", 100)
	if got := usualPrefix([]byte(text)); got < len(text)-32 {
		t.Errorf("it stops at %d of %d", got, len(text))
	}
}

// TestNotUTF8 pins that a byte that is no UTF-8 is found wherever it stands in the bytes
// that are taken at once, and that the first of two is told.
func TestNotUTF8(t *testing.T) {
	const before, after = 70, 70
	for at := range before {
		text := strings.Repeat("\n", at) + "\x80" + strings.Repeat("\n", after) + "\xff"
		err := new(Error)
		if !errors.As(checkText([]byte(text)), &err) || err.Line != at+1 {
			t.Errorf("%d lines before it: error %v, want one in line %d", at, err, at+1)
		}
	}
}

// TestHeadsCutShort pins what becomes of lines at a document's top that end where a value
// is looked for, or have a colon too many.
func TestHeadsCutShort(t *testing.T) {
	for text, fails := range map[string]bool{
		"kind: ": false, "kind:": false, "apiVersion: ": false, "apiVersion:": false, "metadata:": false,
		"apiVersion: v1\nkind: ":                                   false,
		"apiVersion: v1\nkind: ConfigMap:\nmetadata:\n  name: a\n": true,
	} {
		r, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Run(bytes.NewBufferString(text))
		if fails != (err != nil) || !fails && out.String() != text {
			t.Errorf("%q became %q, error %v", text, out, err)
		}
	}
}

// plainByRune is plainBytes by YAML 1.1, section 5.1: its printable characters, of the line
// breaks LF alone (section 5.4), and no byte-order mark.
func plainByRune(s string) bool {
	for _, r := range s {
		switch {
		case r == '\t', r == '\n', r >= 0x20 && r <= 0x7e:
		case r < 0xa0, r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			return false
		}
	}
	return true
}

func outdentedByByte(s string) int {
	for i := range len(s) {
		if s[i] == '\n' && (i+1 == len(s) || s[i+1] != ' ') {
			return i + 1
		}
	}
	return len(s)
}
