package helmrelease

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// example is an entry with something of everything.
var example = Entry{Patches: []Patch{
	{
		Group: "apps", Version: "v1", Kind: "Deployment", Name: "web.v1", Namespace: "prod",
		Templates: []Template{{Path: "spec.template", Set: map[string]string{
			"helm-checksum/configmap.web-config": strings.Repeat("af9d", 16),
			"helm-checksum/secret.web-tls":       strings.Repeat("1", 64),
		}, Remove: []string{"helm-checksum/configmap.gone"}}},
	},
	{
		Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet", Name: "123",
		Templates: []Template{
			{Path: "spec.leaderWorkerTemplate.leaderTemplate", Set: map[string]string{"helm-checksum/configmap.a": "12e4"}},
			{Path: "spec.leaderWorkerTemplate.workerTemplate", Set: map[string]string{"helm-checksum/configmap.a": "b"}},
		},
	},
	{
		Group: "example.com", Version: "v1", Kind: "Fleet", Name: "fleet",
		Templates: []Template{
			{Path: "spec.pools[0].template", Set: map[string]string{"helm-checksum/configmap.a": "b"}, Lacks: "metadata"},
			{Path: "spec.pools[1].template", Set: map[string]string{"helm-checksum/configmap.a": "b"}, Lacks: "annotations"},
			{Path: "spec.pools[2].template", Set: map[string]string{"helm-checksum/configmap.a": "b"}, Remove: []string{"helm-checksum/secret.x"}},
		},
	},
}}

func setAll(t *testing.T, src []byte, e Entry) []byte {
	t.Helper()
	f, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Releases()) == 0 {
		t.Fatal("no HelmRelease found")
	}
	for _, r := range f.Releases() {
		if err := r.Set(e); err != nil {
			t.Fatal(err)
		}
	}
	out, err := f.Bytes()
	if err != nil {
		t.Fatalf("%v\nedits: %+v", err, f.docs[0].edits)
	}
	return out
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

// variants are the same file as other editors and systems write it.
var variants = []struct {
	name string
	of   func([]byte) []byte
}{
	{"CRLF", func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }},
	{"BOM", func(b []byte) []byte { return append([]byte("\ufeff"), b...) }},
	{"no final newline", func(b []byte) []byte { return bytes.TrimRight(b, "\n") }},
}

func TestSetChangesOnlyOurEntry(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no test files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			in, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out := setAll(t, in, example)
			golden(t, strings.TrimSuffix(file, ".yaml")+".stamped", out)
			golden(t, strings.TrimSuffix(file, ".yaml")+".removed", setAll(t, out, Entry{}))

			if again := setAll(t, out, example); !bytes.Equal(again, out) {
				t.Errorf("a second time changed it:\n%s", cmp.Diff(string(out), string(again)))
			}
			if d := cmp.Diff(string(setAll(t, in, Entry{})), string(setAll(t, out, Entry{}))); d != "" && !strings.Contains(file, "empty") && !strings.Contains(file, "null") && !strings.Contains(file, "alias") && !strings.Contains(file, "merged") && !strings.Contains(file, "ours-") {
				t.Errorf("taking the entry out does not give the file back:\n%s", d)
			}
			for _, v := range variants {
				t.Run(v.name, func(t *testing.T) {
					want := v.of(out)
					got := setAll(t, v.of(in), example)
					if v.name == "no final newline" {
						// The file's own last blank lines are gone, and so may be its last line break.
						squeeze := strings.NewReplacer("\n\n", "\n")
						want = []byte(strings.TrimSpace(squeeze.Replace(squeeze.Replace(string(want)))))
						got = []byte(strings.TrimSpace(squeeze.Replace(squeeze.Replace(string(got)))))
						if strings.Contains(file, "kept-blank-lines") {
							t.Skip("the blank lines at its end are content")
						}
					}
					if d := cmp.Diff(string(want), string(got)); d != "" {
						t.Errorf("differs from the plain file's result (-want +got):\n%s", d)
					}
					if again := setAll(t, got, example); !bytes.Equal(again, got) {
						t.Errorf("a second time changed it")
					}
				})
			}
		})
	}
}
