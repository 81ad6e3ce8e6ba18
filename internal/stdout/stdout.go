// Package stdout writes an output that lies in memory in many pieces at little cost.
package stdout

import "unsafe"

// Write takes a piece. Unlike other io.Writers it holds on to it: it must not be changed
// before Flush has returned.
func (w *Writer) Write(b []byte) (int, error) { return len(b), w.add(b) }

// WriteString is Write for a string.
func (w *Writer) WriteString(s string) (int, error) {
	return len(s), w.add(unsafe.Slice(unsafe.StringData(s), len(s))) // it is only read
}
