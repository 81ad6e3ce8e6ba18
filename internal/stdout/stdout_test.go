package stdout

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// pieces makes pieces of all sizes, none and larger than a pipe among them.
func pieces(n int) [][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([][]byte, n)
	for i := range all {
		size := random.IntN(200)
		if random.IntN(50) == 0 {
			size = random.IntN(200 << 10)
		}
		all[i] = bytes.Repeat([]byte{byte('a' + i%26)}, size)
	}
	return all
}

func write(w *Writer, all [][]byte) error {
	for i, b := range all {
		var n int
		var err error
		if i%2 == 0 {
			n, err = w.Write(b)
		} else {
			n, err = w.WriteString(string(b))
		}
		if err != nil {
			return err
		}
		if n != len(b) {
			return io.ErrShortWrite
		}
	}
	return w.Flush()
}

func TestWriter(t *testing.T) {
	for _, n := range []int{0, 1, 2, 127, 128, 129, 1000} {
		all := pieces(n)
		want := bytes.Join(all, nil)
		r, pipe, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			err := write(NewWriter(pipe), all)
			pipe.Close()
			done <- err
		}()
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d pieces through a pipe: %d bytes became %d, error %v", n, len(want), len(got), err)
		}
		if err := <-done; err != nil {
			t.Errorf("%d pieces through a pipe: %v", n, err)
		}
		r.Close()

		name := filepath.Join(t.TempDir(), "out")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(NewWriter(f), all), f.Close()); err != nil {
			t.Errorf("%d pieces to a file: %v", n, err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d pieces to a file: %d bytes became %d, error %v", n, len(want), len(got), err)
		}
	}
}

func TestWriterFails(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	var failed *os.PathError
	if err := write(NewWriter(w), pieces(1000)); !errors.As(err, &failed) || failed.Op != "write" {
		t.Errorf("a pipe without a reader: error %v, want one of writing", err)
	}
	w.Close()
	closed := NewWriter(w)
	for range 2 { // an error stays
		if err := write(closed, pieces(2)); !errors.As(err, &failed) || failed.Op != "write" {
			t.Errorf("a closed file: error %v, want one of writing", err)
		}
		if err := closed.Flush(); err == nil {
			t.Error("a closed file: no error when flushed again")
		}
	}
}
