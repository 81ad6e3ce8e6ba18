package genstream

import (
	"fmt"
	"strings"
)

// A Hostile stream makes the engine work hard for each byte, in one way.
type Hostile struct {
	Name string
	Make func(size int) []byte // about that many bytes, all alike: twice the size is twice of everything
}

const (
	oneConfig = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: v}\n"

	// oneWorkload lacks its pod template.
	oneWorkload = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec:\n  template:\n"

	oneReader = "    spec: {containers: [{envFrom: [{configMapRef: {name: c}}]}]}\n"
)

// HostileStreams returns the hostile streams: what grows in each is what some simple
// way to write an engine would look at again and again.
func HostileStreams() []Hostile {
	return []Hostile{
		{"documents", func(size int) []byte { // nothing but bounds
			return repeat(size, "---\na: b\n")
		}},
		{"configs", func(size int) []byte { // a name to read in each, for no one
			return count(size, func(i int) string {
				return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\ndata: {k: v}\n", i)
			})
		}},
		{"one-name", func(size int) []byte { // each replaces the one before
			return append(repeat(size, oneConfig), oneWorkload+oneReader...)
		}},
		{"namespaces", func(size int) []byte { // one name, and as many places to look for it
			return append(count(size/2, func(i int) string {
				return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n%d}\ndata: {k: v}\n", i)
			}), count(size/2, func(i int) string {
				return oneWorkload + oneReader
			})...)
		}},
		{"workloads", func(size int) []byte { // each stamped in place
			return append([]byte(oneConfig), count(size, func(i int) string {
				return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: w%d\nspec:\n  template:\n    spec:\n      containers:\n      - envFrom:\n        - configMapRef:\n            name: c\n", i)
			})...)
		}},
		{"library", func(size int) []byte { // each left to the YAML library by its tag
			return append([]byte(oneConfig), repeat(size, strings.Replace(oneWorkload, "name: w", "name: !!str w", 1)+oneReader)...)
		}},
		{"json-list", func(size int) []byte { // one document, one line, all edits in it
			item := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"w"},"spec":{"template":{"spec":{"containers":[{"envFrom":[{"configMapRef":{"name":"c"}}]}]}}}},`
			items := strings.TrimSuffix(string(repeat(size, item)), ",")
			return []byte(oneConfig + "---\n{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[" + items + "]}\n")
		}},
		{"list", func(size int) []byte { // the same in block style
			item := "- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: w\n  spec:\n    template:\n      spec:\n        containers:\n        - envFrom:\n          - configMapRef:\n              name: c\n"
			return append([]byte(oneConfig+"---\napiVersion: v1\nkind: List\nitems:\n"), repeat(size, item)...)
		}},
		{"references", func(size int) []byte { // as many stamps on one pod template
			configs := count(size/2, func(i int) string {
				return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%06d}\ndata: {k: v}\n", i)
			})
			return append(append(configs, oneWorkload+"    spec:\n      containers:\n      - envFrom:\n"...), count(size/2, func(i int) string {
				return fmt.Sprintf("        - configMapRef: {name: c%06d}\n", i)
			})...)
		}},
		{"references-first", func(size int) []byte { // on one pod template, before others that have one each
			configs := count(size/3, func(i int) string {
				return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%06d}\ndata: {k: v}\n", i)
			})
			configs = append(configs, oneWorkload+"    spec:\n      containers:\n      - envFrom:\n"...)
			configs = append(configs, count(size/3, func(i int) string {
				return fmt.Sprintf("        - configMapRef: {name: c%06d}\n", i)
			})...)
			return append(configs, repeat(size/3, oneWorkload+strings.Replace(oneReader, "name: c", "name: c000000", 1))...)
		}},
		{"list-values", func(size int) []byte { // maps where strings belong, in the items of one list
			item := "- {apiVersion: v1, kind: ConfigMap, metadata: {name: c%06d}, data: {k: {a: b}}}\n"
			return append(append([]byte("---\napiVersion: v1\nkind: List\nitems:\n"), count(size/2, func(i int) string {
				return fmt.Sprintf(item, i)
			})...), count(size/2, func(i int) string {
				return oneWorkload + strings.Replace(oneReader, "name: c", fmt.Sprintf("name: c%06d", i), 1)
			})...)
		}},
		{"keys", func(size int) []byte { // every key of one object, by name, each in a workload
			return append(append([]byte("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n"), count(size/2, func(i int) string {
				return fmt.Sprintf("  k%06d: v\n", i)
			})...), count(size/2, func(i int) string {
				return oneWorkload + fmt.Sprintf("    spec:\n      containers:\n      - env:\n        - {name: e, valueFrom: {configMapKeyRef: {name: c, key: k%06d}}}\n", i)
			})...)
		}},
		{"value", func(size int) []byte { // half the stream in the checksum of each workload, beside a key of its own
			return append([]byte("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  big: "+strings.Repeat("x", size/2)+"\n"), count(size/2, func(i int) string {
				return oneWorkload + fmt.Sprintf("    spec:\n      containers:\n      - env:\n        - {name: e, valueFrom: {configMapKeyRef: {name: c, key: big}}}\n        - {name: f, valueFrom: {configMapKeyRef: {name: c, key: k%06d}}}\n", i)
			})...)
		}},
		{"stale-stamps", func(size int) []byte { // each to be taken away
			stale := count(size, func(i int) string { return fmt.Sprintf("        helm-checksum/configmap.a%06d: v\n", i) })
			return []byte(oneConfig + oneWorkload + "    metadata:\n      annotations:\n" + string(stale) + oneReader)
		}},
		{"ignore", func(size int) []byte { // patterns times references
			patterns := strings.TrimSuffix(string(count(size/2, func(i int) string { return fmt.Sprintf("configmap/x%06d*,", i) })), ",")
			references := count(size/2, func(i int) string { return fmt.Sprintf("        - configMapRef: {name: c%06d}\n", i) })
			return []byte(oneConfig + oneWorkload + "    metadata:\n      annotations:\n        helm-checksum/ignore: \"" + patterns + "\"\n    spec:\n      containers:\n      - envFrom:\n" + string(references))
		}},
		{"stars", func(size int) []byte { // a pattern that matches almost
			return []byte(oneConfig + oneWorkload + "    metadata:\n      annotations:\n        helm-checksum/ignore: \"configmap/" + strings.Repeat("*a", size/4) + "b*\"\n" +
				"    spec:\n      containers:\n      - envFrom:\n        - configMapRef: {name: " + strings.Repeat("a", size/2) + "}\n")
		}},
		{"aliases", func(size int) []byte { // all to one anchor, each followed
			return []byte(oneConfig + oneWorkload + "    x: &a [b]\n    y:\n" + string(repeat(size, "    - *a\n")) + oneReader)
		}},
		{"comments", func(size int) []byte { // none of which may be lost
			return []byte(oneConfig + oneWorkload + "    y: !!str x\n    l:\n" + string(repeat(size, "    # c\n    - a\n")) + oneReader)
		}},
		{"escapes", func(size int) []byte { // nothing of a value is what it looks like
			return []byte("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: \"" + strings.Repeat(`x\n`, size/3) + "\"\n" + oneWorkload + oneReader)
		}},
		{"blank-lines", func(size int) []byte { // which may or may not belong to a value
			return []byte("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: >\n    x\n" + strings.Repeat("\n", size) + oneWorkload + oneReader)
		}},
		{"folded-lines", func(size int) []byte {
			return []byte("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: x\n" + string(repeat(size, "    x\n\n")) + oneWorkload + oneReader)
		}},
		{"depth", func(size int) []byte { // as deep as a reader may go, again and again
			deep := "    x: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n"
			return append([]byte(oneConfig), repeat(size, oneWorkload+deep+oneReader)...)
		}},
	}
}

// repeat returns as many copies as fit into size bytes.
func repeat(size int, s string) []byte { return []byte(strings.Repeat(s, size/len(s))) }

// count returns the texts of 0, 1, 2 and so on until they reach the size.
func count(size int, text func(i int) string) []byte {
	var b []byte
	for i := 0; len(b) < size; i++ {
		b = append(b, text(i)...)
	}
	return b
}
