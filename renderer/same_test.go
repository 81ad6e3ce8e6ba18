package renderer

import "testing"

// What the self-check takes for one meaning, and what for two.
func TestSame(t *testing.T) {
	k, err := newKinds(nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func(doc string) *tree {
		t.Helper()
		d, ok := readBlock(&tree{}, []byte(doc), 0, len(doc))
		if !ok {
			t.Fatalf("the block reader leaves this to the library:\n%s", doc)
		}
		p := planner{Renderer: &Renderer{kinds: k}}
		d.mark(p.templatesOf(d))
		return d
	}
	const plain = "x: "
	const pod = "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec: {}\n    metadata:\n"
	const stamp = "helm-checksum/configmap.c: x"
	for _, c := range []struct {
		head, a, b string
		same       bool
	}{
		{plain, "word", `"word"`, true},
		{plain, "word", "words", false},
		{plain, "y", `"y"`, false}, // a boolean to YAML 1.1
		{plain, `"1"`, "1", false},
		{plain, "null", `""`, false},
		{plain, "null", "~", true},
		{plain, "true", `"true"`, false},
		{plain, "|\n  y\n", "|-\n  y\n", false},
		{plain, "|\n  y\n", "\"y\\n\"", true},
		{plain, ">\n  y\n  z\n", "|\n  y\n  z\n", false},
		{plain, "|\n  y\n", "|\n    y\n", true},
		{plain, "[1, 2]", "\n- 1\n- 2\n", true},
		{plain, "[1]", "[1, 2]", false},
		{plain, "[1, 2]", "[1]", false},
		{plain, "{a: 1}", "{a: 1, b: 2}", false},
		{plain, "{a: 1, b: 2}", "{a: 1}", false},
		{plain, "{a: 1}", "{b: 1}", false},
		{plain, "{a: 1}", "[1]", false},
		{plain, "{" + stamp + "}", "{}", false}, // a stamp counts where there is no pod template

		{pod, "      annotations:\n        " + stamp + "\n", "", true},
		{pod, "      annotations:\n        " + stamp + "\n", "      annotations: {}\n", true},
		{pod, "      annotations:\n        " + stamp + "\n        a: b\n", "      annotations: {a: b}\n", true},
		{pod, "      annotations:\n        a: b\n", "      annotations:\n        a: c\n", false},
		{pod, "      annotations:\n        a: b\n", "", false},
		{pod, "      annotations: {a: b}\n      labels: {a: b}\n", "      annotations: {a: b}\n      labels: {a: c}\n", false},
		{pod, "      labels: {a: b}\n", "      annotations: {" + stamp + "}\n      labels: {a: b}\n", true},
		{pod, "      labels: {}\n", "", false},
		{pod, "      labels: {" + stamp + "}\n", "      labels: {}\n", false},
		// The last of two is what counts.
		{pod, "      annotations: {a: b}\n      annotations: {" + stamp + "}\n", "      annotations: {a: b}\n", false},
		{pod, "      annotations: {a: b}\n      annotations: {" + stamp + "}\n", "      annotations: {a: b}\n      annotations: {}\n", true},
	} {
		a := read(c.head + c.a)
		b := read(c.head + c.b)
		if got := same(a, b); got != c.same {
			t.Errorf("same is %v, want %v:\n%s\nand\n%s", got, c.same, c.head+c.a, c.head+c.b)
		}
		if got := same(b, a); got != c.same {
			t.Errorf("same is %v the other way round, want %v:\n%s\nand\n%s", got, c.same, c.head+c.a, c.head+c.b)
		}
	}
}
