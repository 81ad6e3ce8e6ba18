package renderer

import (
	"errors"
	"strconv"
	"strings"
)

// An Error says what is wrong with a stream, and where.
type Error struct {
	Document int    // from 1; 0 when it is about the stream as a whole
	Source   string // the chart's file, when the stream names it
	Line     int    // in the stream, from 1; 0 when unknown
	Object   string // KIND/NAME, when it could be read; KIND alone without a name
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

// failed puts the place to an error about a document.
func failed(stream []byte, d document, name string, t *tree, object int32, err error) error {
	e := &Error{Document: d.number, Source: d.source(stream), Object: name, Err: err}
	e.Line = lineAt(stream, d.body)
	at := func(n int32) {
		at := t.nodes[n].start
		if at < 0 {
			at = placeOf(stream, d, t, n)
		}
		if at >= 0 {
			e.Line = lineAt(stream, at)
		}
	}
	var line *lineError
	var typed *typeError
	var control *controlError
	switch {
	case errors.As(err, &line):
		// What is missing at the end is found missing past it.
		e.Line = min(e.Line+max(line.line, 1)-1, lineAt(stream, max(d.end-1, d.body)))
	case errors.As(err, &typed):
		e.Err = t.describe(object, typed)
		at(typed.node)
	case errors.As(err, &control):
		at(control.node)
	}
	return e
}
