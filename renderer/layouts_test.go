package renderer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

const settingsA1 = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: \"1\"\n"

// withMetadata is a Deployment with a pod template whose metadata is written as given.
func withMetadata(metadata string) string {
	return strings.Replace(deployment("web", envFrom("settings")), "  template:\n", "  template:\n"+indent(4, metadata), 1)
}

// A layout is a way to write a pod template's metadata, and what a run makes of it;
// KEY and SUM stand for the stamp.
type layout struct{ name, in, out string }

func (l layout) test(t *testing.T) {
	t.Run(l.name, func(t *testing.T) {
		full := strings.NewReplacer("KEY", "helm-checksum/configmap.settings", "SUM", sumA1).Replace
		plan := wantOutput(t, renderer.Options{}, withMetadata(full(l.in))+settingsA1, withMetadata(full(l.out))+settingsA1)
		if planned(t, plan, "Deployment/web").Restyled {
			t.Error("the report says restyled")
		}
	})
}

var annotationForms = []layout{
	{"no metadata", "", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"metadata null", "metadata:\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"metadata null word", "metadata: null\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"metadata tilde", "metadata: ~\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"metadata {}", "metadata: {}\n", "metadata: {\"annotations\": {\"KEY\": \"SUM\"}}\n"},
	{"no annotations", "metadata:\n  labels:\n    a: b\n", "metadata:\n  annotations:\n    KEY: SUM\n  labels:\n    a: b\n"},
	{"null", "metadata:\n  annotations:\n  labels:\n    a: b\n", "metadata:\n  annotations:\n    KEY: SUM\n  labels:\n    a: b\n"},
	{"null word", "metadata:\n  annotations: null\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"tilde", "metadata:\n  annotations: ~\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"null with a comment", "metadata:\n  annotations: # none yet\n", "metadata:\n  annotations: # none yet\n    KEY: SUM\n"},
	{"empty string", "metadata:\n  annotations: \"\"\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"empty single-quoted string", "metadata:\n  annotations: ''\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"{}", "metadata:\n  annotations: {}\n", "metadata:\n  annotations: {\"KEY\": \"SUM\"}\n"},
	{"{ }", "metadata:\n  annotations: { }\n", "metadata:\n  annotations: {\"KEY\": \"SUM\" }\n"},
	{"flow map", "metadata:\n  annotations: {a: b}\n", "metadata:\n  annotations: {\"KEY\": \"SUM\", a: b}\n"},
	{"flow map of several lines", "metadata:\n  annotations: {\n    a: b,\n    c: d\n  }\n", "metadata:\n  annotations: {\n    \"KEY\": \"SUM\",\n    a: b,\n    c: d\n  }\n"},
	{"flow map with a comma at its end", "metadata:\n  annotations: {a: b,}\n", "metadata:\n  annotations: {\"KEY\": \"SUM\", a: b,}\n"},
	{"flow metadata", "metadata: {labels: {a: b}}\n", "metadata: {\"annotations\": {\"KEY\": \"SUM\"}, labels: {a: b}}\n"},
	{"flow metadata with null", "metadata: {labels: {a: b}, annotations: null}\n", "metadata: {labels: {a: b}, annotations: {\"KEY\": \"SUM\"}}\n"},
	{"flow metadata with nothing", "metadata: {labels: {a: b}, annotations: }\n", "metadata: {labels: {a: b}, annotations: {\"KEY\": \"SUM\"} }\n"},
	{"flow metadata with a string", "metadata: {annotations: \"\", labels: {a: b}}\n", "metadata: {annotations: {\"KEY\": \"SUM\"}, labels: {a: b}}\n"},
	{"alias", "metadata:\n  labels: &l\n    a: b\n  annotations: *l\n", "metadata:\n  labels: &l\n    a: b\n  annotations:\n    \"a\": \"b\"\n    KEY: SUM\n"},
	{"alias in flow", "metadata: {labels: &l {a: b}, annotations: *l }\n", "metadata: {labels: &l {a: b}, annotations: {\"a\": \"b\", \"KEY\": \"SUM\"} }\n"},
	{"merge key", "metadata:\n  labels: &l\n    a: b\n  annotations:\n    <<: *l\n    c: d\n", "metadata:\n  labels: &l\n    a: b\n  annotations:\n    KEY: SUM\n    <<: *l\n    c: d\n"},
	{"an anchor of its own", "metadata:\n  annotations: &x\n    a: b\n", "metadata:\n  annotations: &x\n    KEY: SUM\n    a: b\n"},
	{"block", "metadata:\n  annotations:\n    a: b\n", "metadata:\n  annotations:\n    KEY: SUM\n    a: b\n"},
	{"the stamp is there", "metadata:\n  annotations:\n    a: b\n    KEY: SUM\n", "metadata:\n  annotations:\n    a: b\n    KEY: SUM\n"},
	{"the stamp is there, quoted", "metadata:\n  annotations:\n    'KEY': \"SUM\"\n", "metadata:\n  annotations:\n    'KEY': \"SUM\"\n"},
	{"an old stamp", "metadata:\n  annotations:\n    KEY: 00ab # old\n    a: b\n", "metadata:\n  annotations:\n    KEY: SUM # old\n    a: b\n"},
	{"an old stamp, quoted", "metadata:\n  annotations:\n    \"KEY\": \"00ab\"\n", "metadata:\n  annotations:\n    \"KEY\": SUM\n"},
	{"an old stamp in flow", "metadata:\n  annotations: {a: b, KEY: 00ab}\n", "metadata:\n  annotations: {a: b, KEY: \"SUM\"}\n"},
	{"an old stamp that is a number", "metadata:\n  annotations:\n    KEY: 12\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"an old stamp that is null", "metadata:\n  annotations:\n    KEY:\n    a: b\n", "metadata:\n  annotations:\n    KEY: SUM\n    a: b\n"},
	{"a stamp of an object that is not in the stream", "metadata:\n  annotations:\n    helm-checksum/secret.gone: 00ab\n", "metadata:\n  annotations:\n    KEY: SUM\n"},
	{"stale stamps among others", "metadata:\n  annotations:\n    a: b\n    helm-checksum/secret.gone: 00ab\n    # about c\n    c: d\n    helm-checksum/configmap.gone: 00ab\n",
		"metadata:\n  annotations:\n    KEY: SUM\n    a: b\n    # about c\n    c: d\n"},
	{"stale stamps in flow", "metadata:\n  annotations: {helm-checksum/secret.gone: 00ab, a: b, helm-checksum/configmap.gone: 00ab, c: d}\n",
		"metadata:\n  annotations: {\"KEY\": \"SUM\", a: b, c: d}\n"},
	{"a stale stamp last in flow", "metadata:\n  annotations: {a: b, helm-checksum/configmap.gone: 00ab}\n", "metadata:\n  annotations: {\"KEY\": \"SUM\", a: b}\n"},
	{"only a stale stamp in flow", "metadata:\n  annotations: {helm-checksum/configmap.gone: 00ab}\n", "metadata:\n  annotations: {\"KEY\": \"SUM\"}\n"},
}

func testAnnotationForms(t *testing.T) {
	for _, l := range annotationForms {
		l.test(t)
	}

	t.Run("metadata by a merge key is written anew", func(t *testing.T) {
		stream := "x-defaults: &defaults\n  annotations:\n    a: b\n" + strings.TrimPrefix(withMetadata("metadata:\n  <<: *defaults\n  labels: {c: d}\n"), "---\n") + settingsA1
		out, plan := run(t, renderer.Options{}, stream)
		if diff := cmp.Diff(stamps{web: {"configmap.settings": sumA1}}, stampsOf(t, out)); diff != "" {
			t.Error(diff)
		}
		if !planned(t, plan, "Deployment/web").Restyled || !strings.Contains(out, "a: b") {
			t.Errorf("got restyled %v:\n%s", planned(t, plan, "Deployment/web").Restyled, out)
		}
	})
	t.Run("an anchor that another place uses is written anew", func(t *testing.T) {
		stream := strings.Replace(withMetadata("metadata:\n  annotations: &notes\n    a: b\n"), "spec:\n", "x-notes: *notes\nspec:\n", 1)
		stream = strings.Replace(stream, "x-notes: *notes\n", "", 1) + "      nodeSelector: *notes\n" + settingsA1
		out, plan := run(t, renderer.Options{}, stream)
		if diff := cmp.Diff(stamps{web: {"configmap.settings": sumA1}}, stampsOf(t, out)); diff != "" {
			t.Error(diff)
		}
		if !planned(t, plan, "Deployment/web").Restyled || strings.Count(out, sumA1) != 1 {
			t.Errorf("got restyled %v:\n%s", planned(t, plan, "Deployment/web").Restyled, out)
		}
	})

	// Nothing is to be stamped here: what is stale goes.
	for _, l := range []layout{
		{"emptied", "metadata:\n  annotations:\n    helm-checksum/configmap.gone: 00ab\n", "metadata:\n  annotations: {}\n"},
		{"emptied of two, before another key", "metadata:\n  annotations:\n    helm-checksum/configmap.gone: 00ab\n    helm-checksum/secret.gone: 00ab\n  labels: {a: b}\n",
			"metadata:\n  annotations: {}\n  labels: {a: b}\n"},
		{"emptied behind a comment", "metadata:\n  annotations: # ours\n    helm-checksum/configmap.gone: 00ab\n", "metadata:\n  annotations: {} # ours\n"},
		{"emptied in flow", "metadata:\n  annotations: {helm-checksum/configmap.gone: 00ab}\n", "metadata:\n  annotations: {}\n"},
		{"first", "metadata:\n  annotations:\n    helm-checksum/configmap.gone: 00ab\n    a: b\n", "metadata:\n  annotations:\n    a: b\n"},
		{"last", "metadata:\n  annotations:\n    a: b\n    helm-checksum/configmap.gone: 00ab\n", "metadata:\n  annotations:\n    a: b\n"},
		{"in flow first", "metadata: {annotations: {helm-checksum/configmap.gone: 00ab, a: b}}\n", "metadata: {annotations: {a: b}}\n"},
		{"in flow between", "metadata: {annotations: {a: b, \"helm-checksum/configmap.gone\": \"00ab\", c: d}}\n", "metadata: {annotations: {a: b, c: d}}\n"},
		{"in flow last", "metadata: {annotations: {a: b, \"helm-checksum/configmap.gone\": \"00ab\"}}\n", "metadata: {annotations: {a: b}}\n"},
	} {
		t.Run("stale: "+l.name, func(t *testing.T) {
			wantOutput(t, renderer.Options{}, strings.Replace(withMetadata(l.in), "envFrom", "env_From", 1), strings.Replace(withMetadata(l.out), "envFrom", "env_From", 1))
		})
	}
	t.Run("the stamp of an external object stays", func(t *testing.T) {
		stream := withMetadata("metadata:\n  annotations:\n    helm-checksum/configmap.settings: 00ab\n    helm-checksum/configmap.unread: 00ab\n")
		wantOutput(t, renderer.Options{}, stream, strings.Replace(stream, "        helm-checksum/configmap.unread: 00ab\n", "", 1))
	})
	t.Run("the odd stamp of an external object stays as it is", func(t *testing.T) {
		stream := strings.Replace(withMetadata("metadata:\n  annotations:\n    helm-checksum/configmap.elsewhere: 12\n"), "        - configMapRef:\n", "        - configMapRef:\n            name: elsewhere\n        - configMapRef:\n", 1) + settingsA1
		wantOutput(t, renderer.Options{}, stream, strings.Replace(stream, "        helm-checksum/configmap.elsewhere", "        helm-checksum/configmap.settings: "+sumA1+"\n        helm-checksum/configmap.elsewhere", 1))
	})
}

var oddLayouts = []layout{
	{"quoted keys", "\"metadata\":\n  'annotations':\n    \"a\": b\n", "\"metadata\":\n  'annotations':\n    KEY: SUM\n    \"a\": b\n"},
	{"quoted keys, null", "\"metadata\":\n  \"annotations\":\n", "\"metadata\":\n  \"annotations\":\n    KEY: SUM\n"},
	{"spaces before colons", "metadata :\n  annotations :\n    a : b\n", "metadata :\n  annotations :\n    KEY: SUM\n    a : b\n"},
	{"comments between keys", "# one\nmetadata: # two\n  # three\n  annotations: # four\n    # five\n    a: b # six\n    # seven\n",
		"# one\nmetadata: # two\n  # three\n  annotations: # four\n    KEY: SUM\n    # five\n    a: b # six\n    # seven\n"},
	{"comments and no annotations", "metadata: # two\n  # three\n\n  labels:\n    a: b\n", "metadata: # two\n  annotations:\n    KEY: SUM\n  # three\n\n  labels:\n    a: b\n"},
	{"wide indentation", "metadata:\n      annotations:\n            a: b\n", "metadata:\n      annotations:\n            KEY: SUM\n            a: b\n"},
	{"wide indentation, no annotations", "metadata:\n    labels:\n        a: b\n", "metadata:\n    annotations:\n        KEY: SUM\n    labels:\n        a: b\n"},
	{"a value of several lines", "metadata:\n  annotations:\n    a: |\n      x\n      y\n    b: \"1\n      2\"\n", "metadata:\n  annotations:\n    KEY: SUM\n    a: |\n      x\n      y\n    b: \"1\n      2\"\n"},
	{"blank lines", "metadata:\n\n  annotations:\n\n    a: b\n\n", "metadata:\n\n  annotations:\n    KEY: SUM\n\n    a: b\n\n"},
	{"umlauts before it", "metadata: {labels: {\"grüße 🚀\": x}, annotations: {a: \"ö\"}}\n", "metadata: {labels: {\"grüße 🚀\": x}, annotations: {\"KEY\": \"SUM\", a: \"ö\"}}\n"},
}

func testLayouts(t *testing.T) {
	for _, l := range oddLayouts {
		l.test(t)
	}
	stamp := "helm-checksum/configmap.settings: " + sumA1 + "\n"
	for name, c := range map[string]struct{ in, out string }{
		"keys in odd order, annotations last": {
			"spec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations:\n        a: b\nmetadata:\n  name: web\nkind: Deployment\napiVersion: apps/v1",
			"spec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations:\n        " + stamp + "        a: b\nmetadata:\n  name: web\nkind: Deployment\napiVersion: apps/v1",
		},
		"annotations as the last thing": {
			"kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations:\n        a: b",
			"kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations:\n        " + stamp + "        a: b",
		},
		"annotations as the last thing, empty": {
			"kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations: {}",
			"kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations: {\"helm-checksum/configmap.settings\": \"" + sumA1 + "\"}",
		},
		"annotations as the last thing, null": {
			"kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations:",
			"kind: Deployment\napiVersion: apps/v1\nspec:\n  template:\n    spec:\n      volumes:\n      - configMap: {name: settings}\n    metadata:\n      annotations:\n        " + strings.TrimSuffix(stamp, "\n"),
		},
		"a list in its key's column, templates in a list": {
			"kind: List\napiVersion: v1\nitems:\n- spec:\n    template:\n      spec:\n        volumes:\n        - configMap:\n            name: settings\n  kind: Deployment\n  apiVersion: apps/v1\n",
			"kind: List\napiVersion: v1\nitems:\n- spec:\n    template:\n      metadata:\n        annotations:\n          " + stamp + "      spec:\n        volumes:\n        - configMap:\n            name: settings\n  kind: Deployment\n  apiVersion: apps/v1\n",
		},
		"an indented list, the template first": {
			"kind: DeploymentList\napiVersion: apps/v1\nitems:\n    -   spec:\n            template:\n                spec:\n                    volumes:\n                        - configMap:\n                            name: settings\n",
			"kind: DeploymentList\napiVersion: apps/v1\nitems:\n    -   spec:\n            template:\n                metadata:\n                    annotations:\n                        " + stamp + "                spec:\n                    volumes:\n                        - configMap:\n                            name: settings\n",
		},
		"the whole document indented": {
			"  kind: Deployment\n  apiVersion: apps/v1\n  spec:\n    template:\n      spec:\n        volumes:\n        - configMap:\n            name: settings\n",
			"  kind: Deployment\n  apiVersion: apps/v1\n  spec:\n    template:\n      metadata:\n        annotations:\n          " + stamp + "      spec:\n        volumes:\n        - configMap:\n            name: settings\n",
		},
		"on the separator's line": {
			"--- {kind: Deployment, apiVersion: apps/v1, spec: {template: {spec: {volumes: [configMap: {name: settings}]}}}}\n",
			"--- {kind: Deployment, apiVersion: apps/v1, spec: {template: {\"metadata\": {\"annotations\": {\"helm-checksum/configmap.settings\": \"" + sumA1 + "\"}}, spec: {volumes: [configMap: {name: settings}]}}}}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := wantOutput(t, renderer.Options{}, settingsA1+strings.Replace("---\n"+c.in, "---\n---", "---", 1), settingsA1+strings.Replace("---\n"+c.out, "---\n---", "---", 1))
			if plan.Workloads[0].Restyled {
				t.Error("the report says restyled")
			}
		})
	}
	t.Run("a template that begins behind a dash", func(t *testing.T) {
		for _, fleet := range []string{
			"---\napiVersion: example.com/v1\nkind: Fleet\nspec:\n  templates:\n  - spec:\n      volumes:\n      - configMap:\n          name: settings\n  - metadata:\n      labels: {a: b}\n    spec:\n      volumes:\n      - configMap:\n          name: settings\n",
			"---\napiVersion: example.com/v1\nkind: Fleet\nspec:\n  templates:\n  - {spec: {volumes: [{configMap: {name: settings}}]}}\n  -\n    spec: {volumes: [{configMap: {name: settings}}]}\n",
			"---\napiVersion: example.com/v1\nkind: Fleet\nspec: {templates: [{spec: {volumes: [{configMap: {name: settings}}]}}, {metadata: {}, spec: {volumes: [{configMap: {name: settings}}]}}]}\n",
		} {
			out, plan := run(t, renderer.Options{Workloads: []string{"example.com/Fleet=spec.templates[*]"}}, fleet+settingsA1)
			want := stamps{"Fleet/ spec.templates[0]": {"configmap.settings": sumA1}, "Fleet/ spec.templates[1]": {"configmap.settings": sumA1}}
			if got := strings.Count(out, sumA1); got != 2 {
				t.Errorf("%d stamps, want %v in:\n%s", got, want, out)
			}
			if plan.Workloads[0].Restyled {
				t.Errorf("restyled:\n%s", out)
			}
		}
	})
}

// Every layout, in documents that are odd in every other way too.
func TestLayoutsInOddDocuments(t *testing.T) {
	eachLine := func(edit func(line string) string) func(string) string {
		return func(doc string) string {
			var b strings.Builder
			for line := range strings.Lines(doc) {
				b.WriteString(edit(line))
			}
			return b.String()
		}
	}
	item := func(doc string) string {
		doc = indent(2, strings.TrimPrefix(doc, "---\n"))
		return "---\napiVersion: v1\nkind: List\nitems:\n# first\n-" + doc[1:] + "# second\n- apiVersion: v1\n  kind: Service\n  metadata: {}\n"
	}
	quoteKey := regexp.MustCompile(`(?m)^( *(?:- )?)([A-Za-z]+):`)
	for name, odd := range map[string]func(string) string{
		"CRLF":                 func(doc string) string { return strings.ReplaceAll(doc, "\n", "\r\n") },
		"no final newline":     func(doc string) string { return strings.TrimSuffix(doc, "\n") },
		"a byte-order mark":    func(doc string) string { return strings.Replace(doc, "---\n", "---\n\ufeff", 1) },
		"a glued separator":    func(doc string) string { return strings.Replace(doc, "---\n", "---", 1) },
		"a document end":       func(doc string) string { return doc + "...\n" },
		"a directive":          func(doc string) string { return "...\n%YAML 1.1\n" + doc },
		"no separator":         func(doc string) string { return "...\n" + strings.TrimPrefix(doc, "---\n") },
		"indented":             func(doc string) string { return "---\n" + indent(3, strings.TrimPrefix(doc, "---\n")) },
		"comments":             eachLine(func(line string) string { return line + "# comment: {}\n" }),
		"indented comments":    eachLine(func(line string) string { return line + "                # - comment\n" }),
		"blank lines":          eachLine(func(line string) string { return line + "\n" }),
		"lines of spaces":      eachLine(func(line string) string { return line + "   \n" }),
		"trailing spaces":      eachLine(func(line string) string { return strings.TrimSuffix(line, "\n") + "  \n" }),
		"trailing comments":    eachLine(func(line string) string { return strings.TrimSuffix(line, "\n") + " # ü: {\n" }),
		"quoted keys":          func(doc string) string { return quoteKey.ReplaceAllString(doc, `$1"$2":`) },
		"spaces before colons": func(doc string) string { return quoteKey.ReplaceAllString(doc, `$1$2  :`) },
		"an item of a list":    item,
		"an item, CRLF":        func(doc string) string { return strings.ReplaceAll(item(doc), "\n", "\r\n") },
		"read by the library":  func(doc string) string { return doc + "x: !!str y\n" },
	} {
		t.Run(name, func(t *testing.T) {
			for _, l := range append(slices.Clone(annotationForms), oddLayouts...) {
				full := strings.NewReplacer("KEY", "helm-checksum/configmap.settings", "SUM", sumA1).Replace
				doc := odd(withMetadata(full(l.in)))
				if v, err := meaning(doc); (err != nil || v == nil) && name != "a directive" && name != "a document end" {
					continue // such as a comment in the midst of a quoted text
				}
				out, plan := run(t, renderer.Options{}, settingsA1+doc)
				got := stampsOf(t, out)
				if len(got) != 1 || !cmp.Equal(got[web], map[string]string{"configmap.settings": sumA1}) {
					t.Errorf("%s: stamps %v in:\n%s", l.name, got, out)
				}
				if planned(t, plan, "Deployment/web").Restyled {
					t.Errorf("%s: restyled:\n%s", l.name, doc)
				}
				if strings.Contains(doc, "\r\n") && strings.Count(out[len(settingsA1):], "\n") != strings.Count(out[len(settingsA1):], "\r\n") {
					t.Errorf("%s: line ends are mixed in %q", l.name, out[len(settingsA1):])
				}
			}
		})
	}
}

// testJSON stamps JSON documents, compact and indented, alone and among YAML.
func testJSON(t *testing.T) {
	dep := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "app", "args": []any{"a: b", "\"quoted\" \\ ü <&>", 1, 1.5, true, nil},
				"envFrom": []any{map[string]any{"configMapRef": map[string]any{"name": "settings"}}}},
		}}}},
	}
	template := dep["spec"].(map[string]any)["template"].(map[string]any)
	for name, metadata := range map[string]any{
		"no metadata":    nil,
		"no annotations": map[string]any{"labels": map[string]any{"a": "b"}},
		"empty":          map[string]any{"annotations": map[string]any{}},
		"null":           map[string]any{"annotations": nil, "labels": map[string]any{"a": "b"}},
		"some":           map[string]any{"annotations": map[string]any{"a": "b", "z": "y"}},
		"old":            map[string]any{"annotations": map[string]any{"helm-checksum/configmap.settings": "00ab"}},
		"stale":          map[string]any{"annotations": map[string]any{"helm-checksum/configmap.gone": "00ab", "z": "y"}},
		"stale last":     map[string]any{"annotations": map[string]any{"a": "b", "helm-checksum/secret.gone": "00ab"}},
		"only stale":     map[string]any{"annotations": map[string]any{"helm-checksum/secret.gone": "00ab"}},
	} {
		delete(template, "metadata")
		if metadata != nil {
			template["metadata"] = metadata
		}
		compact, _ := json.Marshal(dep)
		for style, doc := range map[string]string{
			"compact": string(compact),
			"pretty":  indentJSON(compact, "  "),
			"wide":    indentJSON(compact, "    "),
			"tabs":    indentJSON(compact, "\t"),
			"crlf":    strings.ReplaceAll(indentJSON(compact, "  "), "\n", "\r\n"),
		} {
			t.Run(name+"/"+style, func(t *testing.T) {
				for _, stream := range []string{settingsA1 + "---\n" + doc + "\n", doc + "\n" + settingsA1, settingsA1 + "--- " + doc} {
					out, plan := run(t, renderer.Options{}, stream)
					if diff := cmp.Diff(stamps{web: {"configmap.settings": sumA1}}, stampsOf(t, out)); diff != "" {
						t.Fatalf("stamps (-want +got):\n%s\n%s", diff, out)
					}
					if planned(t, plan, "Deployment/web").Restyled {
						t.Error("restyled")
					}
					for _, chunk := range chunks(out) {
						chunk = strings.TrimSpace(strings.TrimPrefix(chunk, "---"))
						if strings.HasPrefix(chunk, "{") && !json.Valid([]byte(chunk)) {
							t.Errorf("no JSON any more:\n%s", chunk)
						}
					}
				}
			})
		}
	}
	// Helm 4 hands a JSON document over in YAML's flow style, folded.
	out, _ := run(t, renderer.Options{}, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", annotations: {postrenderer.helm.sh/postrender-filename: 'x.yaml'}},
  "spec": {"template": {"spec": {"containers": [{"name": "app", "envFrom": [{"configMapRef": {
            "name": "settings"}}]}]}}}}
`+settingsA1)
	if diff := cmp.Diff(stamps{web: {"configmap.settings": sumA1}}, stampsOf(t, out)); diff != "" {
		t.Errorf("stamps (-want +got):\n%s\n%s", diff, out)
	}
}

func indentJSON(compact []byte, indent string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, compact, "", indent)
	return b.String()
}

// testProportion runs streams of one and of ten times a size. The limits are wide, for
// machines are noisy: what takes quadratic time takes a hundred times as long.
func testProportion(t *testing.T) {
	small := "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: x\nspec:\n  ports: [{port: 80}]\n"
	item := "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec: {template: {spec: {volumes: [{configMap: {name: settings}}]}}}\n"
	compact := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"volumes":[{"configMap":{"name":"settings"}}]}}}}`
	for name, stream := range map[string]func(n int) string{
		"many documents": func(n int) string { return strings.Repeat(small, n*500) },
		"many workloads": func(n int) string { return strings.Repeat(deployment("web", envFrom("settings")), n*60) + settingsA1 },
		"one big ConfigMap": func(n int) string {
			return deployment("web", envFrom("settings")) + configMap("settings", "a: |\n"+strings.Repeat("  some line of text\n", n*2000))
		},
		"many keys": func(n int) string {
			return deployment("web", envFrom("settings")) + configMap("settings", manyKeys(n*1000))
		},
		"a list": func(n int) string {
			return "---\napiVersion: v1\nkind: List\nitems:\n" + strings.Repeat(item, n*60) + settingsA1
		},
		"a list, by library": func(n int) string {
			return "---\napiVersion: v1\nkind: List\nx: &x y\nitems:\n" + strings.Repeat(item, n*60) + settingsA1
		},
		"a list in one line": func(n int) string {
			return `{"apiVersion":"v1","kind":"List","items":[` + strings.Repeat(compact+",", n*60) + compact + "]}\n" + settingsA1
		},
		"one line": func(n int) string {
			return deployment("web", envFrom("settings")) + configMap("settings", "a: "+strings.Repeat("x", n*100000)+"\n")
		},
		"one name in many namespaces": func(n int) string {
			var b strings.Builder
			b.WriteString(deployment("web", envFrom("settings")))
			for i := range n * 300 {
				b.WriteString(inNamespace(fmt.Sprintf("namespace-%d", i), settingsA1))
			}
			return b.String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRenderer(t, renderer.Options{})
			measure := func(n int) (time.Duration, uint64, int) {
				in := stream(n)
				best := time.Hour
				var allocated uint64
				for range 3 {
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					start := cpuTime()
					if _, err := r.Run(bytes.NewBufferString(in)); err != nil {
						t.Fatal(err)
					}
					best = min(best, cpuTime()-start)
					runtime.ReadMemStats(&after)
					allocated = after.TotalAlloc - before.TotalAlloc
				}
				return best, allocated, len(in)
			}
			time1, bytes1, _ := measure(1)
			time10, bytes10, size := measure(10)
			if time10 > 40*max(time1, time.Millisecond) {
				t.Errorf("ten times the input takes %v, once %v", time10, time1)
			}
			if bytes10 > 20*bytes1 {
				t.Errorf("ten times the input (%d bytes) allocates %d bytes, once %d", size, bytes10, bytes1)
			}
			t.Logf("%d bytes: %v, %d bytes allocated", size, time10, bytes10)
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("key-")
		for d := i; d > 0; d /= 10 {
			b.WriteByte(byte('0' + d%10))
		}
		b.WriteString(": some value\n")
	}
	return b.String()
}
