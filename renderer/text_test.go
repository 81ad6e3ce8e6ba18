package renderer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

func TestDocumentsAreThoseOfTheText(t *testing.T) {
	type doc struct {
		Text string
		Line int
	}
	for _, c := range []struct {
		name, text string
		want       []doc
	}{
		{"one without a separator", "a: b\n", []doc{{"a: b\n", 1}}},
		{"a comment before the first", "# x\n---\n# y\na: b\n---\nc: d", []doc{{"# y\na: b\n", 4}, {"c: d", 6}}},
		{"an end marker", "a: b\n...\n---\nc: d\n", []doc{{"a: b\n...\n", 1}, {"c: d\n", 4}}},
		{"content on the separator's line", "--- {a: b}\n", []doc{{"--- {a: b}\n", 1}}},
		{"a separator glued to the text", "a: b\n---c: d\n", []doc{{"a: b\n", 1}, {"c: d\n", 2}}},
		{"an empty one", "---\n# x\n---\na: b\n", []doc{{"# x\n", 0}, {"a: b\n", 4}}},
		{"a byte-order mark and CRLF", "\ufeff---\r\na: b\r\n", []doc{{"a: b\r\n", 2}}},
		{"a marker inside a block scalar", "a: |\n  ---\n  b\n", []doc{{"a: |\n  ---\n  b\n", 1}}},
		{"nothing", "# x\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []doc
			for _, d := range renderer.Documents([]byte(c.text)) {
				got = append(got, doc{c.text[d.Start:d.End], d.Line})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEditsAreMadeInTheOrderOfTheText(t *testing.T) {
	got, err := renderer.ApplyEdits([]byte("0123456789"), []renderer.Edit{{8, 10, ""}, {2, 4, "a"}, {6, 6, "b"}, {6, 6, "c"}})
	if err != nil || string(got) != "01a45bc67" {
		t.Errorf("%q, error %v", got, err)
	}
	for _, edits := range [][]renderer.Edit{{{0, 3, ""}, {2, 4, ""}}, {{3, 11, ""}}, {{4, 3, ""}}} {
		if got, err := renderer.ApplyEdits([]byte("0123456789"), edits); err == nil {
			t.Errorf("%v made %q", edits, got)
		}
	}
}
