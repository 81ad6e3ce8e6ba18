// Package stdin reads a whole input into memory at little cost.
package stdin

import (
	"io"
	"os"
)

// first is what a pipe holds, and more than most charts render.
const first = 64 << 10

// ReadAll reads a file to its end. What does not fit into a small buffer goes on
// into memory that is reserved once, where the system has it, so that it is neither
// copied again nor handed out in small pages: faulting those in one by one takes
// longer than all else that is done with the bytes.
func ReadAll(f *os.File) ([]byte, error) {
	b, err := fill(f, make([]byte, 0, first))
	if err != nil || len(b) < cap(b) {
		return b, err
	}
	if large := reserve(); cap(large) > len(b) {
		if b, err = fill(f, append(large, b...)); err != nil || len(b) < cap(b) {
			return b, err
		}
	}
	for {
		grown := make([]byte, len(b), 2*cap(b))
		copy(grown, b)
		if b, err = fill(f, grown); err != nil || len(b) < cap(b) {
			return b, err
		}
	}
}

// fill reads until the file ends, and returns less than the capacity then, or until
// the buffer is full.
func fill(f *os.File, b []byte) ([]byte, error) {
	for len(b) < cap(b) {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}
