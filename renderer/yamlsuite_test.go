package renderer

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
)

// The cases of the YAML test suite (https://github.com/yaml/yaml-test-suite) lie in this
// Go module, among others.
const (
	suiteModule = "github.com/goccy/go-yaml@v1.19.2"
	suiteSum    = "h1:PmFC1S6h8ljIz6gMRBopkjP1TVT7xuwrButHID66PoM="
	suiteFiles  = "testdata/yaml-test-suite/*/in.yaml"
)

// suite returns the suite's cases by name.
func suite(t *testing.T) map[string][]byte {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", suiteModule)
	cmd.Dir = t.TempDir() // it is no module of ours
	out, err := cmd.Output()
	var module struct{ Dir, Sum string }
	if err != nil || json.Unmarshal(out, &module) != nil || module.Dir == "" {
		t.Skipf("the YAML test suite is not to be had: go mod download %s: %v\n%s", suiteModule, err, out)
	}
	if module.Sum != suiteSum {
		t.Fatalf("%s has the checksum %s, want %s", suiteModule, module.Sum, suiteSum)
	}
	files, err := filepath.Glob(filepath.Join(module.Dir, filepath.FromSlash(suiteFiles)))
	if err != nil {
		t.Fatal(err)
	}
	cases := make(map[string][]byte, len(files))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		cases[filepath.Base(filepath.Dir(f))] = b
	}
	return cases
}

// indented puts a text into a mapping.
func indented(text []byte) []byte {
	b := []byte("data:\n")
	for line := range bytes.Lines(text) {
		b = append(append(b, "  "...), line...)
	}
	return b
}

func TestDocumentsEndWhereTheLibraryEndsThem(t *testing.T) {
	read := 0
	for name, text := range suite(t) {
		want := 0
		decoder := yamlv3.NewDecoder(bytes.NewReader(text))
		var err error
		for err == nil {
			var y yamlv3.Node
			if err = decoder.Decode(&y); err == nil {
				want++
			}
		}
		if err != io.EOF {
			continue // no YAML, or more than the library knows
		}
		read++
		if got := len(Documents(text)); got != want {
			t.Errorf("%s: %d documents, want %d\n%s", name, got, want, text)
		}
	}
	const least = 150
	if read < least {
		t.Errorf("the library reads %d cases, want %d at least", read, least)
	}
}

func TestBlockReaderAgreesWithTheLibraryOnTheYAMLTestSuite(t *testing.T) {
	cases := suite(t)
	const least = 300 // there are 351
	if len(cases) < least {
		t.Fatalf("%s has %d cases, want %d at least", suiteModule, len(cases), least)
	}
	documents, taken := 0, 0
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			s := splitter{stream: text}
			for d, ok := s.next(); ok; d, ok = s.next() {
				for _, doc := range [][]byte{text[d.body:d.end], indented(text[d.body:d.end])} {
					documents++
					if checkBlockReader(t, doc) {
						taken++
					}
				}
				checkReadHead(t, text)
			}
		})
	}
	t.Logf("the block reader takes %d of %d documents", taken, documents)
	if taken < documents/10 {
		t.Errorf("the block reader takes %d of %d documents: too few to show anything", taken, documents)
	}
}
