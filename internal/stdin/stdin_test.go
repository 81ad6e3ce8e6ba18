package stdin

import (
	"bytes"
	"os"
	"testing"
)

func TestReadAll(t *testing.T) {
	for _, size := range []int{0, 1, first - 1, first, first + 1, 3*first + 5, 5 << 20} {
		want := bytes.Repeat([]byte("helm"), size/4+1)[:size]
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := w.Write(want)
			w.Close()
			done <- err
		}()
		got, err := ReadAll(r)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d bytes, error %v", size, len(got), err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		r.Close()
	}
}

func TestReadAllFails(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.Close()
	if b, err := ReadAll(r); err == nil || b != nil {
		t.Errorf("got %d bytes, error %v from a closed file", len(b), err)
	}
}
