package stdout

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// batch is how many pieces are written at once: far fewer than the 1024 that the system
// takes, and so many that a call costs little beside them.
const batch = 128

// A Writer gathers pieces, and has the system write many of them in one call from where
// they lie. It holds on to what it was given; see Write.
type Writer struct {
	file   *os.File
	pieces [][]byte
	err    error // the first one: nothing is written after it
}

// NewWriter returns a Writer to a file.
func NewWriter(f *os.File) *Writer { return &Writer{file: f, pieces: make([][]byte, 0, batch)} }

func (w *Writer) add(b []byte) error {
	if len(b) == 0 || w.err != nil {
		return w.err
	}
	w.pieces = append(w.pieces, b)
	if len(w.pieces) < batch {
		return nil
	}
	return w.Flush()
}

// Flush writes all pieces that were taken and not written yet. The error is the file's.
func (w *Writer) Flush() error {
	if w.err == nil {
		if err := w.write(w.pieces); err != nil {
			w.err = &os.PathError{Op: "write", Path: w.file.Name(), Err: err}
		}
	}
	w.pieces = w.pieces[:0]
	return w.err
}

func (w *Writer) write(pieces [][]byte) error {
	conn, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Write(func(fd uintptr) (done bool) {
		for len(pieces) > 0 && failed == nil {
			var n int
			switch n, failed = unix.Writev(int(fd), pieces); failed {
			case nil:
				if n == 0 {
					failed = io.ErrUnexpectedEOF
				}
			case unix.EINTR:
				failed = nil
			case unix.EAGAIN:
				failed = nil
				return false // until there is room
			}
			pieces = cut(pieces, n)
		}
		return true
	})
	if failed != nil {
		return failed
	}
	return err
}

// cut takes what was written off the pieces.
func cut(pieces [][]byte, written int) [][]byte {
	for written > 0 {
		if n := len(pieces[0]); n > written {
			pieces[0] = pieces[0][written:]
			break
		} else {
			written -= n
		}
		pieces = pieces[1:]
	}
	return pieces
}
