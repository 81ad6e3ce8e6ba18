package renderer

import (
	"bytes"
	"testing"
)

// The self-check refuses edits that do more than stamp, whichever reader reads them.
func TestSelfCheckRefusesOtherEdits(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n"
	for name, workload := range map[string]string{
		"block":               "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: w\nspec:\n  template:\n    spec:\n      containers:\n      - image: a\n        envFrom:\n        - configMapRef:\n            name: c\n",
		"left to the library": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: !!str w\nspec:\n  template:\n    spec:\n      containers:\n      - image: a\n        envFrom:\n        - configMapRef:\n            name: c\n",
	} {
		stream := []byte(config + workload)
		r, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := &planner{Renderer: r, stream: stream, out: new(StampedStream), sum: newChecksummer(nil), lines: lineIndex{stream: stream}}
		p.scratch, p.second = p.newTree(), p.newTree()
		s := splitter{stream: stream}
		for d, ok := s.next(); ok; d, ok = s.next() {
			if err := p.collect(&d); err != nil {
				t.Fatal(err)
			}
		}
		p.indexConfigs()
		if err := p.read(p.documents[0]); err != nil {
			t.Fatal(err)
		}
		d := &p.at
		p.match(&d.workloads[0])
		edits, ok := p.editInPlace(d)
		if !ok || len(edits) != 1 {
			t.Fatalf("%s: %d edits, ok %v, want one", name, len(edits), ok)
		}
		right := edits[0]
		image := bytes.Index(stream, []byte("image: a")) + len("image: ")
		for _, c := range []struct {
			name  string
			edits []Edit
			want  bool
		}{
			{"the right one", []Edit{right}, true},
			{"none", nil, false},
			{"another image", []Edit{right, {image, image + 1, "b"}}, false},
			{"a comment more", []Edit{right, {image + 1, image + 1, " # no value"}}, true},
			{"another checksum", []Edit{{right.Start, right.End, right.Text[:len(right.Text)-2] + "0\n"}}, right.Text[len(right.Text)-2] == '0'},
			{"a label beside it", []Edit{{right.Start, right.End, right.Text + "      labels: {a: b}\n"}}, false},
			{"no YAML any more", []Edit{right, {image, image + 1, "\"a"}}, false},
		} {
			for _, byBlockReader := range []bool{d.byBlockReader, false} {
				if got := p.check(d, c.edits, byBlockReader); got != c.want {
					t.Errorf("%s: %s: passes is %v, want %v (block reader %v)", name, c.name, got, c.want, byBlockReader)
				}
			}
		}
	}
}
