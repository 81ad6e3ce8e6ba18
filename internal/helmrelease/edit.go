package helmrelease

import (
	"bytes"
	"fmt"
	"slices"
)

// An Edit replaces Old, which stands at Offset in a text, by New.
type Edit struct {
	Offset   int
	Old, New string
}

// Apply returns src with all edits made. They are about offsets of src, in any
// order, and must not overlap; insertions at one place keep their order. An edit
// whose old text is not what src has is an error.
func Apply(src []byte, edits []Edit) ([]byte, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Offset - b.Offset })
	var out bytes.Buffer
	at := 0
	for _, e := range sorted {
		end := e.Offset + len(e.Old)
		if e.Offset < at || end > len(src) {
			return nil, fmt.Errorf("edits overlap at offset %d", e.Offset)
		}
		if string(src[e.Offset:end]) != e.Old {
			return nil, fmt.Errorf("the text at offset %d is not the one that the edit is for", e.Offset)
		}
		out.Write(src[at:e.Offset])
		out.WriteString(e.New)
		at = end
	}
	out.Write(src[at:])
	return out.Bytes(), nil
}
