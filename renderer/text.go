package renderer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// A Document is the extent of one YAML document in a text, as CONTRACT.md section 7 has it end.
type Document struct {
	Start int // of what a YAML reader is to be given: behind a separator on a line of its own
	End   int // just past its last line, a "..." included
	Line  int // of its first line with content, counted from 1; 0 if it has none
}

// Documents returns the documents of a text, as Plan reads them and numbers them, from 1.
func Documents(text []byte) []Document {
	var all []Document
	s := splitter{stream: text}
	lines := lineIndex{stream: text}
	for d, ok := s.next(); ok; d, ok = s.next() {
		document := Document{Start: d.body, End: d.end}
		if at := d.content(text); at >= 0 {
			document.Line = lines.at(at)
		}
		all = append(all, document)
	}
	return all
}

// content returns the offset of the first line that is more than a marker, a comment or a
// directive, or -1.
func (d document) content(stream []byte) int {
	for at := d.body; at < d.end; {
		end := d.end
		if i := bytes.IndexByte(stream[at:d.end], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := bytes.TrimPrefix(stream[at:end], bom)
		if m := marker(line); m == separator || m == documentEnd {
			line = line[len("---"):]
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return at
		}
		at = end
	}
	return -1
}

// An Edit is a change of a text: the bytes from Start to End give way to Text.
type Edit struct {
	Start, End int
	Text       string
}

// ApplyEdits returns a text with edits made, as the engine makes its own. They may come in
// any order; insertions at one place keep theirs. Edits that overlap, or are not about the
// text, are an error.
func ApplyEdits(text []byte, edits []Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	sortEdits(edits)
	from := 0
	for _, e := range edits {
		if e.Start < from || e.End < e.Start || e.End > len(text) {
			return nil, fmt.Errorf("an edit of the bytes from %d to %d overlaps another or is outside of the text", e.Start, e.End)
		}
		from = e.End
	}
	return appendEdits(nil, text, 0, edits), nil
}

// sortEdits puts edits into the order of the text; insertions at one place keep theirs.
func sortEdits(edits []Edit) {
	slices.SortStableFunc(edits, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
}
