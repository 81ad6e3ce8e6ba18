//go:build !linux

package stdout

import (
	"bufio"
	"os"
)

// bufferSize is what a pipe takes at once on many systems.
const bufferSize = 64 << 10

// A Writer gathers pieces in a buffer.
type Writer struct{ buffer *bufio.Writer }

// NewWriter returns a Writer to a file.
func NewWriter(f *os.File) *Writer { return &Writer{bufio.NewWriterSize(f, bufferSize)} }

func (w *Writer) add(b []byte) error {
	_, err := w.buffer.Write(b)
	return err
}

// Flush writes all pieces that were taken and not written yet. The error is the file's.
func (w *Writer) Flush() error { return w.buffer.Flush() }
