package renderer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"
)

// A document is one YAML document of a stream: offsets into it, nothing copied.
type document struct {
	number int // from 1
	start  int // of its first line: its separator, or the text that needs none
	body   int // of what a YAML reader is to be given
	end    int // of its last line
}

// A seenDocument is a document with what was seen of its top level in passing.
type seenDocument struct {
	document
	top topLevel
}

var (
	bom            = []byte("\xef\xbb\xbf")
	plainSeparator = []byte("---\n")
)

// checkText refuses what is no text at all: YAML is Unicode (YAML 1.1, section
// 5.1), and a stream that holds other bytes was not rendered by Helm.
func checkText(stream []byte) error {
	from := usualPrefix(stream)
	nul := bytes.IndexByte(stream[from:], 0)
	if nul >= 0 {
		return &Error{Line: lineAt(stream, from+nul), Err: errors.New("a NUL byte: the input is not YAML")}
	}
	if utf8.Valid(stream[from:]) {
		return nil
	}
	for i := from; ; {
		r, n := utf8.DecodeRune(stream[i:])
		if r == utf8.RuneError && n <= 1 {
			return &Error{Line: lineAt(stream, i), Err: errors.New("bytes that are not UTF-8: the input is not YAML")}
		}
		i += n
	}
}

// usualPrefix returns an offset before which all bytes are ASCII and none is NUL, near
// the first that is not so.
func usualPrefix(b []byte) int {
	rest := b
	for ; len(rest) >= 32; rest = rest[32:] {
		w0, w1 := binary.LittleEndian.Uint64(rest[0:8]), binary.LittleEndian.Uint64(rest[8:16])
		w2, w3 := binary.LittleEndian.Uint64(rest[16:24]), binary.LittleEndian.Uint64(rest[24:32])
		// One less sets the high bit of a NUL, and of the bytes above it at most.
		if (w0|w1|w2|w3|(w0-lowBits)|(w1-lowBits)|(w2-lowBits)|(w3-lowBits))&highBits != 0 {
			break
		}
	}
	return len(b) - len(rest)
}

// Eight bytes at a time: a one in each byte, each byte's high bit, and the others.
const (
	lowBits   = 0x0101010101010101
	highBits  = 0x8080808080808080
	otherBits = ^uint64(highBits)
)

// breaksBefore returns the high bit of each byte of a word that is a line break, where
// the same byte of the next, which is the word one byte on, is no space. Only the lowest
// bit is to be trusted: a borrow marks a wrong byte above a line break alone that no space
// follows, which is marked itself. No carry reaches a line break: it would have to come
// from the byte below it, whose next is the line break.
func breaksBefore(word, next uint64) uint64 {
	const newlines, spaces = '\n' * lowBits, ' ' * lowBits
	w, n := word^newlines, next^spaces
	return (w - lowBits) &^ w & ((n + otherBits) | n) & highBits
}

// outdented returns the offset of the first line after an offset that does not
// begin with a space, or the end. Most lines of a stream are indented, and this is
// where most of the time for one goes.
func outdented(b []byte, i int) int {
	rest := b[i:]
	for ; len(rest) > 16; rest = rest[16:] {
		first := breaksBefore(binary.LittleEndian.Uint64(rest[0:8]), binary.LittleEndian.Uint64(rest[1:9]))
		second := breaksBefore(binary.LittleEndian.Uint64(rest[8:16]), binary.LittleEndian.Uint64(rest[9:17]))
		if first|second == 0 {
			continue
		}
		at := bits.TrailingZeros64(first) / 8
		if first == 0 {
			at = 8 + bits.TrailingZeros64(second)/8
		}
		return len(b) - len(rest) + at + 1
	}
	for i := len(b) - len(rest); i < len(b); i++ {
		if b[i] == '\n' && (i+1 == len(b) || b[i+1] != ' ') {
			return i + 1
		}
	}
	return len(b)
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
func (s *splitter) next() (d seenDocument, ok bool) {
	ok = s.read(&d)
	return d, ok
}

// read is next into a document that may have been used before.
func (s *splitter) read(d *seenDocument) bool {
	b := s.stream
	*d = seenDocument{document: document{start: s.pos, body: s.pos}}
	begun := false // a separator or content was seen
	for s.pos < len(b) {
		line := s.pos
		c := b[line]
		if d.top.root != rootUnknown && passedOver.of(c) {
			s.pos = outdented(b, line)
			continue
		}
		// What most lines in column 0 are, told without looking for the line's end.
		if c == '-' && bytes.HasPrefix(b[line:], plainSeparator) {
			if begun {
				return s.finish(d, line)
			}
			begun = true
			s.pos = line + len(plainSeparator)
			d.body = s.pos
			continue
		}
		if next, ok := d.top.simpleLine(b, line); ok {
			begun = true
			s.pos = next
			continue
		}
		end := len(b)
		if i := bytes.IndexByte(b[line:], '\n'); i >= 0 {
			end = line + i + 1
		}
		if c == '#' {
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
			switch m := marker(text); m {
			case separator, glued:
				if begun {
					return s.finish(d, line)
				}
				begun = true
				rest := text[len("---"):]
				switch {
				case m == glued:
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
					return s.finish(d, end)
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
		return false // only comments and blank lines are left
	}
	return s.finish(d, len(b))
}

func (s *splitter) finish(d *seenDocument, end int) bool {
	s.number++
	d.number = s.number
	d.end = end
	return true
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

// A lineIndex numbers the lines of a stream for many offsets, without counting from
// the beginning each time.
type lineIndex struct {
	stream []byte
	before []int // line breaks before each stretch of the stream
}

const stretch = 32 << 10

// at is lineAt.
func (x *lineIndex) at(offset int) int {
	if x.before == nil {
		n := 0
		for i := 0; i <= len(x.stream); i += stretch {
			x.before = append(x.before, n)
			n += bytes.Count(x.stream[i:min(i+stretch, len(x.stream))], []byte("\n"))
		}
	}
	i := offset / stretch
	return x.before[i] + lineAt(x.stream[i*stretch:], offset-i*stretch)
}

// helmSource is where Helm 4 says which file a document came from: it parses the
// stream, which loses the comments (pkg/action, annotateAndMerge, in its source).
const helmSource = "postrenderer.helm.sh/postrender-filename"

// source returns the chart's file that Helm names in the comment before a document
// or in an annotation. It reads text alone, so that it serves for a broken document.
func (d document) source(stream []byte) string {
	for b := stream[d.start:d.end]; len(b) > 0; {
		line := b
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
		if m := marker(line); m == glued || m == separator {
			line = bytes.TrimSpace(line[len("---"):])
		}
		if len(line) == 0 {
			continue
		}
		if line[0] != '#' {
			break
		}
		if path, ok := bytes.CutPrefix(line, []byte("# Source: ")); ok {
			return string(bytes.TrimSpace(path))
		}
	}
	_, rest, found := bytes.Cut(stream[d.start:d.end], []byte(helmSource))
	if !found {
		return ""
	}
	// The key may be quoted, the value too, and the map in flow style.
	value, isKey := bytes.CutPrefix(bytes.TrimLeft(rest, `"' `), []byte(":"))
	if !isKey {
		return ""
	}
	value = bytes.TrimLeft(value, " ")
	end := ",}\r\n"
	if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
		end, value = string(value[:1]), value[1:]
	}
	if i := bytes.IndexAny(value, end); i >= 0 {
		value = value[:i]
	}
	return string(bytes.TrimSpace(value))
}
