package renderer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A workload that is in a stream twice is held against what stands in its place, the last
// one against the last one.
func TestDiffOfWorkloadsThatAreThereTwice(t *testing.T) {
	settings, flags := configMap("settings", "a: \"1\"\n"), configMap("flags", "a: \"1\"\n")
	first, last := deployment("web", envFrom("settings")), deployment("web", envFrom("flags"))
	diff := func(before, after string) []renderer.ObjectChange {
		t.Helper()
		_, a := run(t, renderer.Options{}, before)
		_, b := run(t, renderer.Options{}, after)
		changes, err := renderer.Diff(a, b)
		if err != nil {
			t.Fatal(err)
		}
		var all []renderer.ObjectChange
		for _, c := range changes {
			all = append(all, c.Objects...)
		}
		return all
	}
	twice := settings + flags + first + last
	for _, same := range [][2]string{{twice, twice}, {twice, settings + flags + last}, {settings + flags + last, twice}} {
		if all := diff(same[0], same[1]); len(all) > 0 {
			t.Errorf("got %+v", all)
		}
	}
	want := []renderer.ObjectChange{{Object: renderer.Ref{Kind: "ConfigMap", Name: "flags"}, Change: renderer.ContentChanged, Keys: []string{"a"}}}
	if d := cmp.Diff(want, diff(twice, settings+configMap("flags", "a: \"2\"\n")+first+last)); d != "" {
		t.Error(d)
	}
}
