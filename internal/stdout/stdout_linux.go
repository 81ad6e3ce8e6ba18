package stdout

import (
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batch is how many pieces are written at once: far fewer than the 1024 that the system
// takes, and so many that a call costs little beside them.
const batch = 128

// A Writer gathers pieces, and has the system write many of them in one call from where
// they lie. It holds on to what it was given; see Write.
type Writer struct {
	file   *os.File
	pieces []unix.Iovec // as the system takes them: unix.Writev would make these anew in each call
	err    error        // the first one: nothing is written after it
}

// NewWriter returns a Writer to a file.
func NewWriter(f *os.File) *Writer { return &Writer{file: f, pieces: make([]unix.Iovec, 0, batch)} }

func (w *Writer) add(b []byte) error {
	if len(b) == 0 || w.err != nil {
		return w.err
	}
	piece := unix.Iovec{Base: unsafe.SliceData(b)}
	piece.SetLen(len(b))
	w.pieces = append(w.pieces, piece)
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

func (w *Writer) write(pieces []unix.Iovec) error {
	conn, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Write(func(fd uintptr) (done bool) {
		for len(pieces) > 0 && failed == nil {
			n, _, errno := unix.Syscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&pieces[0])), uintptr(len(pieces)))
			switch errno {
			case 0:
				if n == 0 {
					failed = io.ErrUnexpectedEOF
				}
				pieces = cut(pieces, n)
			case unix.EINTR:
			case unix.EAGAIN:
				return false // until there is room
			default:
				failed = errno
			}
		}
		return true
	})
	if failed != nil {
		return failed
	}
	return err
}

// cut takes what was written off the pieces.
func cut(pieces []unix.Iovec, written uintptr) []unix.Iovec {
	for written > 0 {
		if first := &pieces[0]; uintptr(first.Len) > written {
			first.Base = (*byte)(unsafe.Add(unsafe.Pointer(first.Base), written))
			first.SetLen(int(uintptr(first.Len) - written))
			break
		} else {
			written -= uintptr(first.Len)
		}
		pieces = pieces[1:]
	}
	return pieces
}
