package renderer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// objectChanges returns the changes of all workloads from one stream to the next.
func objectChanges(t *testing.T, before, after string) []renderer.ObjectChange {
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

// A key counts as changed when both sides read it; else it is the keys that changed.
func TestDiffOfKeys(t *testing.T) {
	volume := func(keys ...string) string {
		items := ""
		for _, key := range keys {
			items += "{key: " + key + ", path: " + key + "}, "
		}
		return deployment("web", "containers:\n- name: app\nvolumes:\n- name: v\n  configMap: {name: settings, items: ["+items+"]}\n")
	}
	one, other := configMap("settings", "p: \"1\"\nq: \"1\"\n"), configMap("settings", "p: \"2\"\nq: \"1\"\n")
	for _, c := range []struct {
		name          string
		before, after string
		change        renderer.ChangeKind
		keys          []string
	}{
		{"the value of a key that both read", one + volume("p", "q"), other + volume("p", "q"), renderer.ContentChanged, []string{"p"}},
		{"another key that both read", one + volume("p", "q"), other + volume("p"), renderer.ContentChanged, []string{"p"}},
		{"a key that is no longer read, with its value", one + volume("p", "q"), other + volume("q"), renderer.KeysChanged, []string{"p"}},
		{"a key that was not read, with its value", one + volume("q"), other + volume("p", "q"), renderer.KeysChanged, []string{"p"}},
		{"all keys, of which one was read", one + volume("p"), other + volume(), renderer.ContentChanged, []string{"p"}},
		{"all keys, of which the other was read", one + volume("q"), other + volume(), renderer.KeysChanged, []string{"*", "q"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := []renderer.ObjectChange{{Object: renderer.Ref{Kind: "ConfigMap", Name: "settings"}, Change: c.change, Keys: c.keys}}
			if d := cmp.Diff(want, objectChanges(t, c.before, c.after)); d != "" {
				t.Error(d)
			}
		})
	}
}

// A workload that is in a stream twice is held against what stands in its place, the last
// one against the last one.
func TestDiffOfWorkloadsThatAreThereTwice(t *testing.T) {
	settings, flags := configMap("settings", "a: \"1\"\n"), configMap("flags", "a: \"1\"\n")
	first, last := deployment("web", envFrom("settings")), deployment("web", envFrom("flags"))
	twice := settings + flags + first + last
	for _, same := range [][2]string{{twice, twice}, {twice, settings + flags + last}, {settings + flags + last, twice}} {
		if all := objectChanges(t, same[0], same[1]); len(all) > 0 {
			t.Errorf("got %+v", all)
		}
	}
	want := []renderer.ObjectChange{{Object: renderer.Ref{Kind: "ConfigMap", Name: "flags"}, Change: renderer.ContentChanged, Keys: []string{"a"}}}
	if d := cmp.Diff(want, objectChanges(t, twice, settings+configMap("flags", "a: \"2\"\n")+first+last)); d != "" {
		t.Error(d)
	}
}
