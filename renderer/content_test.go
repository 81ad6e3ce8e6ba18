package renderer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A value that is a map or a list counts as its JSON text, whatever form it is written in
// and whoever reads it. The checksums were computed by another program, from the text of
// CONTRACT.md section 4: of a = {"b":null,"x":[1,"\u003c"]}, e = {}, l = [].
func TestValuesThatAreCollections(t *testing.T) {
	const sum = "7626819c9636a9c0ef33e5002c5920b9cebccc12bd74e1a0cfa9fe93201c9502"
	const secretSum = "1121dc8dc572dbb454e02361a941e4f006ac5094612d6bea793206610054e2d4" // a = ["x",true]
	for name, data := range map[string]string{
		"block":            "a:\n  x:\n  - 1\n  - <\n  b:\ne: {}\nl: []\n",
		"flow":             "a: {x: [1, \"<\"], b: null}\ne: {}\nl: []\n",
		"a key twice":      "a:\n  b: 1\n  x: [1, \"<\"]\n  b:\ne: {}\nl: []\n",
		"for the library":  "a: !!map\n  x: [1, \"<\"]\n  b:\ne: {}\nl: []\n",
		"a map twice":      "a:\n  q: 1\na:\n  x: [1, \"<\"]\n  b:\ne: {}\nl: []\n",
		"a text before it": "a: text\na:\n  x: [1, \"<\"]\n  b:\ne: {}\nl: []\n",
	} {
		t.Run(name, func(t *testing.T) {
			object := configMap("settings", data)
			list := "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n-" +
				indent(2, strings.TrimPrefix(object, "---\n"))[1:]
			for _, config := range []string{object, list} {
				plan := wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+config,
					stamps{web: {"configmap.settings": sum}})
				want := []string{
					`ConfigMap/settings: the value of key "a" is a map, not a string: its JSON text was taken`,
					`ConfigMap/settings: the value of key "e" is a map, not a string: its JSON text was taken`,
					`ConfigMap/settings: the value of key "l" is a list, not a string: its JSON text was taken`,
				}
				if diff := cmp.Diff(want, plan.Warnings); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	t.Run("of a Secret", func(t *testing.T) {
		for _, field := range []string{"data", "stringData"} {
			config := strings.Replace(secret("settings", "a:\n- x\n- true\n"), "stringData", field, 1)
			wantStamps(t, renderer.Options{}, deployment("web", strings.Replace(envFrom("settings"), "configMap", "secret", 1))+config,
				stamps{web: {"secret.settings": secretSum}})
		}
	})
	t.Run("a change of it is a difference", func(t *testing.T) {
		stream := func(x string) string {
			return deployment("web", envFrom("settings")) + configMap("settings", "a:\n  x: "+x+"\nb: c\n")
		}
		_, before := run(t, renderer.Options{}, stream("v"))
		_, after := run(t, renderer.Options{}, stream("w"))
		changes, err := renderer.Diff(before, after)
		if err != nil {
			t.Fatal(err)
		}
		if len(changes) != 1 || len(changes[0].Objects) != 1 || !cmp.Equal(changes[0].Objects[0].Keys, []string{"a"}) {
			t.Errorf("got %+v", changes)
		}
	})
}

// A scalar before the lines of an object is the document, for a YAML reader: what comes
// behind it is no content.
func TestScalarBeforeAnObject(t *testing.T) {
	for _, scalar := range []string{"--\n# x\n", "text # x\n", "text\n\n# x\n"} {
		stream := strings.Replace(settingsA1, "---\n", "---\n"+scalar, 1)
		err := runErr(t, renderer.Options{}, deployment("web", envFrom("settings"))+stream)
		if want := "document 2, line 15, ConfigMap/settings: the document is a string, want a map"; err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if out, _ := run(t, renderer.Options{}, deployment("web", envFrom("other"))+stream); !strings.HasSuffix(out, stream) {
			t.Errorf("what no one reads did not come out as it was:\n%s", out)
		}
	}
}

// Of an apiVersion given twice the last one says whether the object is a config object.
func TestApiVersionTwice(t *testing.T) {
	twice := func(first, last string) string {
		return strings.Replace(settingsA1, "apiVersion: v1\n", "apiVersion: "+first+"\n", 1) + "apiVersion: " + last + "\n"
	}
	web1 := stamps{web: {"configmap.settings": sumA1}}
	wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+twice("example.com/v1", "v1"), web1)
	wantStamps(t, renderer.Options{}, deployment("web", envFrom("settings"))+twice("v1", "example.com/v1"), stamps{})
}

// The keys that two workloads consume are kept apart, whatever characters are in them.
// The first checksum was computed by another program: of a key that is absent.
func TestKeysWithControlCharacters(t *testing.T) {
	const absent = "de153ea9d29c349019c1aec95a161250ddf4252177d340b77ad9ccd7fd0408ba" // "a\0b" of a=1 b=2
	env := func(keys ...string) string {
		spec := "containers:\n- env:\n"
		for _, key := range keys {
			spec += "  - valueFrom:\n      configMapKeyRef:\n        name: settings\n        key: \"" + key + "\"\n"
		}
		return spec
	}
	wantStamps(t, renderer.Options{}, deployment("web", env(`a\0b`))+deployment("api", env("a", "b"))+configMap("settings", "a: \"1\"\nb: \"2\"\n"),
		stamps{web: {"configmap.settings": absent}, "Deployment/api spec.template": {"configmap.settings": sumA1B2}})
}

// Objects without a name get one each from the API server: they are not one object.
func TestConfigObjectsWithGeneratedNames(t *testing.T) {
	generated := strings.Replace(settingsA1, "  name: settings\n", "  generateName: settings-\n", 1)
	plan := wantStamps(t, renderer.Options{}, generated+generated+settingsA1+deployment("web", envFrom("settings")),
		stamps{web: {"configmap.settings": sumA1}})
	if len(plan.Warnings) > 0 {
		t.Errorf("warnings: %q", plan.Warnings)
	}
	if len(plan.Configs) != 3 {
		t.Errorf("config objects: %+v", plan.Configs)
	}
}

// What many workloads consume fails once.
func TestBrokenObjectThatManyConsume(t *testing.T) {
	for broken, want := range map[string]string{
		configMap("settings", "[\n"):                                 "document 1, line 7, ConfigMap/settings: did not find expected node content",
		annotated("helm-checksum/skip: \"no\"\n", settingsA1):        `document 1, line 6, ConfigMap/settings: annotation helm-checksum/skip: "no", want "true" or "false"`,
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n": "document 1, line 4: did not find expected node content",
	} {
		err := runErr(t, renderer.Options{}, broken+deployment("web", envFrom("settings"))+deployment("api", envFrom("settings"))+deployment("job", envFrom("settings")))
		if err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
