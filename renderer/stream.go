package renderer

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A document is one YAML document of a stream: offsets into it, nothing copied.
type document struct {
	number int // from 1
	start  int // of its first line: its separator, or the text that needs none
	body   int // of what a YAML reader is to be given
	end    int // of its last line

	top topLevel // what was seen of its top level in passing
}

var bom = []byte("\xef\xbb\xbf")

// checkText refuses what is no text at all: YAML is Unicode (YAML 1.1, section
// 5.1), and a stream that holds other bytes was not rendered by Helm.
func checkText(stream []byte) error {
	if i := bytes.IndexByte(stream, 0); i >= 0 {
		return &Error{Line: lineAt(stream, i), Err: fmt.Errorf("a NUL byte: the input is not YAML")}
	}
	if utf8.Valid(stream) {
		return nil
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(stream[i:])
		if r == utf8.RuneError && n <= 1 {
			return &Error{Line: lineAt(stream, i), Err: fmt.Errorf("bytes that are not UTF-8: the input is not YAML")}
		}
		i += n
	}
}

// A splitter cuts a stream into its documents, in one pass over its lines.
//
// A document ends where YAML ends it: at "---" or "..." in column 0 before white
// space or the end of the line. No scalar can hold such a line, for its lines are
// indented. "---kind: X", a separator that template white-space control has glued
// to the text, separates too (fluxcd/helm-controller#1423).
type splitter struct {
	stream []byte
	pos    int // start of the line to look at next
	number int
}

// next returns the next document, or false after the last.
func (s *splitter) next() (document, bool) {
	b := s.stream
	d := document{start: s.pos, body: s.pos}
	begun := false // a separator or content was seen
	for s.pos < len(b) {
		line := s.pos
		end := len(b)
		if i := bytes.IndexByte(b[line:], '\n'); i >= 0 {
			end = line + i + 1
		}
		c := b[line]
		// Most lines are indented: they can be neither marker nor top level.
		if c == ' ' && d.top.root != rootUnknown {
			s.pos = end
			continue
		}
		text := b[line:end]
		if c == bom[0] && bytes.HasPrefix(text, bom) {
			// Charts are files of their own, so the mark stands in mid-stream too.
			text = text[len(bom):]
			if d.top.root == rootUnknown {
				d.body = line + len(bom)
			}
			if len(text) > 0 {
				c = text[0]
			}
		}
		if c == '-' || c == '.' {
			switch marker(text) {
			case separator, glued:
				if begun {
					return s.finish(d, line), true
				}
				begun = true
				rest := text[len("---"):]
				switch {
				case marker(text) == glued:
					d.body = end - len(rest)
					d.top.line(rest)
				case d.top.afterSeparator(rest):
					d.body = end - len(text) // "--- {a: b}"
				default:
					d.body = end
				}
				s.pos = end
				continue
			case documentEnd:
				s.pos = end
				if begun {
					return s.finish(d, end), true
				}
				continue
			}
		}
		d.top.line(text)
		if d.top.root != rootUnknown {
			begun = true
		}
		s.pos = end
	}
	if !begun {
		return document{}, false // only comments and blank lines are left
	}
	return s.finish(d, len(b)), true
}

func (s *splitter) finish(d document, end int) document {
	s.number++
	d.number = s.number
	d.end = end
	return d
}

type markerKind uint8

const (
	noMarker markerKind = iota
	separator
	glued
	documentEnd
)

// marker says what document marker a line begins with.
func marker(line []byte) markerKind {
	switch {
	case bytes.HasPrefix(line, []byte("...")):
		if blankAt(line, 3) {
			return documentEnd
		}
	case bytes.HasPrefix(line, []byte("---")):
		if blankAt(line, 3) {
			return separator
		}
		// Only what can begin an object or a comment was glued; "-----BEGIN" and
		// runs of dashes were not.
		switch c := line[3]; {
		case c == '#', c == '{':
			return glued
		case isLetter(c), c == '"', c == '\'':
			if bytes.IndexByte(line, ':') > 0 {
				return glued
			}
		}
	}
	return noMarker
}

func blankAt(line []byte, i int) bool {
	if i >= len(line) {
		return true
	}
	switch line[i] {
	case ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// lineAt returns the number, from 1, of the line that holds the offset.
func lineAt(stream []byte, offset int) int {
	return 1 + bytes.Count(stream[:min(offset, len(stream))], []byte("\n"))
}

// source returns the chart's file that Helm names in the comment before a document.
func (d document) source(stream []byte) string {
	for b := stream[d.start:d.end]; len(b) > 0; {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		line = bytes.TrimSpace(line)
		if m := marker(line); m == glued || m == separator {
			line = bytes.TrimSpace(line[len("---"):])
		}
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			return ""
		}
		if path, ok := bytes.CutPrefix(line, []byte("# Source: ")); ok {
			return string(bytes.TrimSpace(path))
		}
	}
	return ""
}
