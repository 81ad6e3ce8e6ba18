package helmrelease

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzSet holds for any file: no panic, and either an error or a file that a second time
// does not change, of which Bytes has checked that it means the same but for the entry.
func FuzzSet(f *testing.F) {
	files, err := filepath.Glob("testdata/edit/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		f.Add(bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")))
	}
	set := func(src []byte) ([]byte, error) {
		file, err := Parse(src)
		if err != nil {
			return nil, err
		}
		for _, r := range file.Releases() {
			if err := r.Set(example); err != nil {
				return nil, err
			}
		}
		return file.Bytes()
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		once, err := set(src)
		if err != nil {
			return
		}
		twice, err := set(once)
		if err != nil {
			t.Fatalf("a second time: %v\n%s", err, once)
		}
		if !bytes.Equal(once, twice) {
			t.Errorf("a second time changes the file:\n%s\n---- becomes\n%s", once, twice)
		}
	})
}
