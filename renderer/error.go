package renderer

import (
	"strconv"
	"strings"
)

// An Error says what is wrong with a stream, and where.
type Error struct {
	Document int    // from 1; 0 when it is about the stream as a whole
	Source   string // the chart's file, when the stream names it
	Line     int    // in the stream, from 1; 0 when unknown
	Object   string // KIND/NAME, when it could be read
	Err      error
}

// Error gives the place, then the reason: "document 7 (web/templates/configmap.yaml),
// line 214: did not find expected key".
func (e *Error) Error() string {
	var parts []string
	if e.Document > 0 {
		part := "document " + strconv.Itoa(e.Document)
		if e.Source != "" {
			part += " (" + e.Source + ")"
		}
		parts = append(parts, part)
	}
	if e.Line > 0 {
		parts = append(parts, "line "+strconv.Itoa(e.Line))
	}
	if e.Object != "" {
		parts = append(parts, e.Object)
	}
	if len(parts) == 0 {
		return e.Err.Error()
	}
	return strings.Join(parts, ", ") + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }
