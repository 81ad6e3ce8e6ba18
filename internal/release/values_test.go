package release

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValuesAreMergedAsHelmControllerDoes(t *testing.T) {
	type m = map[string]any
	for _, test := range []struct {
		name   string
		inputs []valuesInput
		own    m
		want   m
	}{
		{"later input over earlier, maps key by key",
			[]valuesInput{{content: "a: {x: 1, z: 1}\nb: 1"}, {content: "a: {z: 2}"}}, nil,
			m{"a": m{"x": 1.0, "z": 2.0}, "b": 1.0}},
		{"own values over inputs",
			[]valuesInput{{content: "a: {x: 1, z: 1}"}}, m{"a": m{"z": "own"}},
			m{"a": m{"x": 1.0, "z": "own"}}},
		{"a scalar replaces a map and the other way round",
			[]valuesInput{{content: "a: {x: 1}\nb: 1"}}, m{"a": "flat", "b": m{"z": true}},
			m{"a": "flat", "b": m{"z": true}}},
		{"a target path over own values",
			[]valuesInput{{targetPath: "a.x", content: "secret"}}, m{"a": m{"x": "own", "z": "own"}},
			m{"a": m{"x": "secret", "z": "own"}}},
		{"a target path where there is nothing",
			[]valuesInput{{targetPath: "new.list[1].x", content: "v"}}, nil,
			m{"new": m{"list": []any{nil, m{"x": "v"}}}}},
		{"own values over a top-level target path, as the controller has it",
			[]valuesInput{{targetPath: "a", content: "secret"}}, m{"a": "own"},
			m{"a": "own"}},
		{"own values over a target path in a map that an earlier input has, as the controller has it",
			[]valuesInput{{content: "a: {w: 1}"}, {targetPath: "a.x", content: "secret"}}, m{"a": m{"x": "own"}},
			m{"a": m{"x": "own", "w": 1.0}}},
		{"a target path is typed as --set types it",
			[]valuesInput{{targetPath: "n", content: "5"}, {targetPath: "t", content: "true"}, {targetPath: "q", content: `"5"`}}, nil,
			m{"n": int64(5), "t": true, "q": "5"}},
		{"a literal is taken as it is",
			[]valuesInput{{targetPath: `a.b\.c`, literal: true, content: `{"k": [1,2], "p": "C:\x=y"}`}}, nil,
			m{"a": m{"b.c": `{"k": [1,2], "p": "C:\x=y"}`}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := mergeValues(test.inputs, test.own)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValuesErrorsShowNoContent(t *testing.T) {
	for _, in := range []valuesInput{
		{field: "spec.valuesFrom[2]", content: "a: hunter2\n  b: hunter2: c"},
		{field: "spec.valuesFrom[2]", content: "- hunter2"},
		{field: "spec.valuesFrom[2]", content: "hunter2"},
		{field: "spec.valuesFrom[2]", targetPath: "p", content: "a,hunter2"},
	} {
		_, err := mergeValues([]valuesInput{in}, nil)
		if err == nil {
			t.Errorf("%q: no error", in.content)
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows the content: %v", err)
		}
		hasParts(t, err, "spec.valuesFrom[2]")
	}
}

// valuesFiles is a checkout with objects to take values from.
func valuesCheckout(t *testing.T, spec string, more map[string]string) string {
	return checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
		"apps/release.yaml": helmRelease(localChart + spec),
		"apps/values.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: web-values, namespace: apps}
data:
  values.yaml: "greeting: from a ConfigMap"
  other.yaml: "greeting: from another key"
---
apiVersion: v1
kind: Secret
metadata: {name: web-secret, namespace: apps}
data:
  password: aHVudGVyMg==
stringData:
  values.yaml: "greeting: from a Secret"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: other}
data:
  values.yaml: "greeting: from another namespace"
`,
	}, more))
}

func TestValuesFromObjects(t *testing.T) {
	generators := map[string]string{
		"apps/kustomization.yaml": `namespace: apps
resources: [release.yaml, values.yaml]
configMapGenerator:
- name: generated
  files: [values.yaml=web/generated.yaml]
- name: literals
  literals: ["greeting=generated from a literal"]
secretGenerator:
- name: generated-secret
  envs: [web/secret.env]
`,
		"apps/web/generated.yaml": "greeting: generated from a file\n",
		"apps/web/secret.env":     "greeting=generated from an env file\n",
	}
	for _, test := range []struct{ name, spec, want string }{
		{"none", "", "from values.yaml"},
		{"ConfigMap", "  valuesFrom: [{kind: ConfigMap, name: web-values}]\n", "from a ConfigMap"},
		{"valuesKey", "  valuesFrom: [{kind: ConfigMap, name: web-values, valuesKey: other.yaml}]\n", "from another key"},
		{"Secret's stringData", "  valuesFrom: [{kind: Secret, name: web-secret}]\n", "from a Secret"},
		{"Secret's data at a target path", "  valuesFrom: [{kind: Secret, name: web-secret, valuesKey: password, targetPath: greeting}]\n", "hunter2"},
		{"in order", "  valuesFrom: [{kind: Secret, name: web-secret}, {kind: ConfigMap, name: web-values}]\n", "from a ConfigMap"},
		{"values over all", "  valuesFrom: [{kind: ConfigMap, name: web-values}]\n  values: {greeting: own}\n", "own"},
		{"optional and absent", "  valuesFrom: [{kind: ConfigMap, name: nowhere, optional: true}]\n", "from values.yaml"},
		{"optional without the key", "  valuesFrom: [{kind: ConfigMap, name: web-values, valuesKey: none, optional: true}]\n", "from values.yaml"},
		{"generated from a file", "  valuesFrom: [{kind: ConfigMap, name: generated}]\n", "generated from a file"},
		{"generated from a literal", "  valuesFrom: [{kind: ConfigMap, name: literals, valuesKey: greeting, targetPath: greeting}]\n", "generated from a literal"},
		{"generated Secret", "  valuesFrom: [{kind: Secret, name: generated-secret, valuesKey: greeting, targetPath: greeting, literal: true}]\n", "generated from an env file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := only(t, valuesCheckout(t, test.spec, generators), Options{})
			if got := valuesSeen(t, r)["greeting"]; got != test.want {
				t.Errorf("greeting is %q, want %q", got, test.want)
			}
		})
	}
}

func TestValuesAreFoundInTheWholeRepository(t *testing.T) {
	dir := valuesCheckout(t, "  valuesFrom: [{kind: ConfigMap, name: far}]\n", map[string]string{
		"infrastructure/far.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: far, namespace: apps}\ndata: {values.yaml: 'greeting: from afar'}\n",
	})
	r := only(t, dir+"/apps", Options{})
	if got := valuesSeen(t, r)["greeting"]; got != "from afar" {
		t.Errorf("greeting is %q", got)
	}
}

func TestTheNearestOfSeveralValuesObjectsCounts(t *testing.T) {
	object := func(greeting string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: env-values}\ndata: {values.yaml: 'greeting: " + greeting + "'}\n"
	}
	dir := valuesCheckout(t, "  valuesFrom: [{kind: ConfigMap, name: env-values}]\n", map[string]string{
		"apps/env.yaml": object("near"), "staging/env.yaml": object("far"),
	})
	if got := valuesSeen(t, only(t, dir, Options{}))["greeting"]; got != "near" {
		t.Errorf("greeting is %q", got)
	}
	dir = valuesCheckout(t, "  valuesFrom: [{kind: ConfigMap, name: env-values}]\n", map[string]string{
		"production/env.yaml": object("one"), "staging/env.yaml": object("other"),
	})
	wantError(t, only(t, dir, Options{}), "HelmRelease apps/web", "spec.valuesFrom[0]", "more than once", "production/env.yaml", "staging/env.yaml", "--values-from ConfigMap/env-values=FILE")
}

func TestMissingValues(t *testing.T) {
	encrypted := "apiVersion: v1\nkind: Secret\nmetadata: {name: encrypted, namespace: apps}\nstringData: {values.yaml: 'ENC[AES256_GCM,data:x]'}\nsops: {mac: x}\n"
	for _, test := range []struct {
		name, spec string
		parts      []string
	}{
		{"not found", "{kind: ConfigMap, name: nowhere}", []string{"spec.valuesFrom[0]", "ConfigMap nowhere", "was not found", "--values-from ConfigMap/nowhere=FILE"}},
		{"another namespace's", "{kind: ConfigMap, name: elsewhere}", []string{"ConfigMap elsewhere", "was not found"}},
		{"no such key", "{kind: Secret, name: web-secret, valuesKey: none}", []string{"has no key none", "--values-from Secret/web-secret=FILE"}},
		{"encrypted", "{kind: Secret, name: encrypted}", []string{"is encrypted with SOPS", "--values-from Secret/encrypted=FILE"}},
		{"encrypted, though optional", "{kind: Secret, name: encrypted, optional: true}", []string{"is encrypted with SOPS"}},
		{"generated from an encrypted file", "{kind: Secret, name: generated}", []string{"values.enc.yaml", "encrypted with SOPS"}},
		{"sealed", "{kind: Secret, name: sealed}", []string{"made in the cluster by the SealedSecret", "sealed.yaml"}},
		{"merged by an overlay", "{kind: ConfigMap, name: overlaid}", []string{"--kustomization"}},
		{"a generator without its file", "{kind: ConfigMap, name: broken}", []string{"can't be generated", "absent.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := only(t, valuesCheckout(t, "  valuesFrom: ["+test.spec+"]\n", map[string]string{
				"apps/encrypted.yaml":  encrypted,
				"apps/values.enc.yaml": "greeting: ENC[x]\nsops: {mac: x}\n",
				"apps/sealed.yaml":     "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: sealed, namespace: apps}\n",
				"apps/kustomization.yaml": `configMapGenerator:
- {name: overlaid, behavior: merge, literals: [a=b]}
- {name: broken, files: [absent.yaml]}
secretGenerator:
- {name: generated, files: [values.yaml=values.enc.yaml]}
`,
			}), Options{})
			_, err := r.Render(t.Context())
			missing := (*MissingValuesError)(nil)
			if !errors.As(err, &missing) {
				t.Fatalf("error is %v, want a *MissingValuesError", err)
			}
			hasParts(t, err, append(test.parts, "HelmRelease apps/web")...)
		})
	}
}

func TestValuesFromNoName(t *testing.T) {
	wantError(t, workloadRelease(t, "  valuesFrom: [{kind: Secret}]\n", Options{}), "HelmRelease apps/web", "spec.valuesFrom[0].name: is missing", "Secret")
}

func TestSuppliedValues(t *testing.T) {
	dir := valuesCheckout(t, "  valuesFrom: [{kind: Secret, name: nowhere}]\n", map[string]string{
		"apps/file.txt":   "greeting: supplied\n",
		"apps/object.txt": "apiVersion: v1\nkind: Secret\nmetadata: {name: nowhere}\nstringData: {values.yaml: 'greeting: supplied as an object'}\n",
		"apps/sops.txt":   "greeting: ENC[x]\nsops: {mac: x}\n",
	})
	for file, want := range map[string]string{"file.txt": "supplied", "object.txt": "supplied as an object"} {
		for _, key := range []string{"Secret/nowhere", "secret/apps/nowhere"} {
			r := only(t, dir, Options{ValuesFrom: map[string]string{key: dir + "/apps/" + file}})
			if got := valuesSeen(t, r)["greeting"]; got != want {
				t.Errorf("%s=%s: greeting is %q, want %q", key, file, got, want)
			}
		}
	}
	wantError(t, only(t, dir, Options{ValuesFrom: map[string]string{"Secret/nowhere": dir + "/apps/sops.txt"}}), "encrypted with SOPS too")
	if _, err := Load(nil, Options{ValuesFrom: map[string]string{"Pod/x": "y"}}); err == nil {
		t.Error("a Pod is taken for values")
	}
}

func TestBrokenValuesObjects(t *testing.T) {
	for _, test := range []struct {
		name, object, spec string
		parts              []string
	}{
		{"not base64", "kind: Secret\nmetadata: {name: x}\ndata: {values.yaml: '%%hunter2'}\n", "{kind: Secret, name: x}", []string{"data[values.yaml] is not base64"}},
		{"not a string", "kind: ConfigMap\nmetadata: {name: x}\ndata: {values.yaml: 5}\n", "{kind: ConfigMap, name: x}", []string{"data[values.yaml] is not a string"}},
		{"another kind", "kind: ConfigMap\nmetadata: {name: x}\n", "{kind: Pod, name: x}", []string{"spec.valuesFrom[0].kind", "Pod"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := only(t, valuesCheckout(t, "  valuesFrom: ["+test.spec+"]\n", map[string]string{
				"apps/x.yaml": "apiVersion: v1\n" + test.object,
			}), Options{})
			_, err := r.Render(t.Context())
			if err == nil {
				t.Fatal("rendered")
			}
			hasParts(t, err, append(test.parts, "HelmRelease apps/web")...)
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the content: %v", err)
			}
		})
	}
}
