package renderer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// Streams that are odd in ways of their own. Stamps are written in place where they can
// be; where not, the document is written anew, and the report says so.
func TestOddStreams(t *testing.T) {
	const (
		flow  = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {volumes: [configMap: {name: settings}]}}}}\n"
		flowR = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {annotations: &x {a: b}}, x: *x, spec: {volumes: [configMap: {name: settings}]}}}}\n"
	)
	body := strings.TrimPrefix(deployment("web", envFrom("settings")), "---\n")
	inTemplate := func(metadata string) string {
		return strings.Replace(body, "  template:\n", "  template:\n"+metadata, 1)
	}
	for _, c := range []struct {
		name     string
		restyled bool
		stream   string
	}{
		{"YAML 1.1's other line breaks in a quoted text", false, settingsA1 + "---\n" + strings.Replace(body, "  template:\n", "  x: \"a\u0085b\u2028c\"\n  template:\n", 1)},
		{"a comment behind an alias", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      labels: &l {a: b, n: null, x: [1]}\n      annotations: *l # x\n")},
		{"a comment behind the separator", false, settingsA1 + "--- # kind: x\n" + body},
		{"a flow map on the next line", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        {a: b}\n")},
		{"a key that is an alias", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      labels: {x: &k a}\n      annotations:\n        *k : v\n        c: d\n")},
		{"a long line of umlauts before the place", false, settingsA1 + "---\n" + inTemplate("    metadata: {labels: {a: \""+strings.Repeat("é", 2000)+"\"}, annotations: {b: c}}\n")},
		{"a null stamp in JSON", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: {\"helm-checksum/configmap.settings\":null,\"b\":\"c\"}\n")},
		{"a spec by a merge key", true, settingsA1 + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nx: &t\n  template:\n    spec:\n      volumes: [configMap: {name: settings}]\nspec:\n  <<: *t\n"},
		{"a spec in flow style with commas at the ends", false, settingsA1 + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {\n  template: {\n    spec: {volumes: [configMap: {name: settings}]},\n    metadata: {\n    },\n  }\n}\n"},
		{"a stale stamp that is an alias", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      labels: {x: &k a}\n      annotations:\n        helm-checksum/configmap.gone: *k\n        c: d\n")},
		{"a stamp without a value before a comma", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: {helm-checksum/configmap.settings: , b: c}\n")},
		{"a stamp without a value in a flow map", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: {helm-checksum/configmap.settings, b}\n")},
		{"a tag at the root", false, settingsA1 + "--- !!map\n" + body},
		{"a template by a merge key", true, settingsA1 + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nx: &t\n  spec:\n    volumes: [configMap: {name: settings}]\nspec:\n  template:\n    <<: *t\n"},
		{"a template by a merge key, with metadata of its own", false, settingsA1 + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nx: &t\n  spec:\n    volumes: [configMap: {name: settings}]\nspec:\n  template:\n    <<: *t\n    metadata: {}\n"},
		{"a pod spec shared by an anchor", false, settingsA1 + "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec:\n    template:\n      spec: &s\n        volumes: [configMap: {name: settings}]\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web2}\n  spec:\n    template:\n      metadata: {labels: {a: b}}\n      spec: *s\n"},
		{"a template in flow style", false, settingsA1 + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template: {\n    spec: {volumes: [configMap: {name: settings}]}\n  }\n"},
		{"a template shared by an anchor", true, settingsA1 + "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec:\n    template: &t\n      spec:\n        volumes: [configMap: {name: settings}]\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web2}\n  spec:\n    template: *t\n"},
		{"an alias on the next line", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      labels: &l {a: b}\n      annotations:\n        *l\n")},
		{"an anchor at the root", false, settingsA1 + "--- &x\n" + body},
		{"an empty flow map on the next line", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        {}\n")},
		{"an empty string on the next line", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        \"\"\n")},
		{"an item shared by an anchor", true, settingsA1 + "---\napiVersion: v1\nkind: List\nitems:\n- &d\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec:\n    template:\n      spec:\n        volumes: [configMap: {name: settings}]\n- *d\n"},
		{"anchors on the keys' lines", false, settingsA1 + "---\n" + strings.Replace(body, "  template:\n", "  template: &tpl\n    metadata: &m\n      annotations: &a # x\n        a: b\n", 1)},
		{"annotations null with an anchor", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: &a\n")},
		{"annotations tagged as a map", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: !!map\n        a: b\n")},
		{"annotations tagged null", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: !!null\n")},
		{"another line break before the place", false, settingsA1 + "---\n" + inTemplate("    metadata: {labels: {a: \"x\u2028y\"}, annotations: {b: c}}\n")},
		{"flow on the separator's line, byte-order mark", false, settingsA1 + "\ufeff--- " + flow},
		{"metadata tagged as a map", true, settingsA1 + "---\n" + inTemplate("    metadata: !!map {}\n")},
		{"nothing but stale stamps in a flow map of several lines", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: {\n        helm-checksum/configmap.gone: a, # x\n        helm-checksum/secret.gone: a # z\n      }\n")},
		{"null on the next line", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        null\n")},
		{"stale stamps as block scalars", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        helm-checksum/configmap.gone: |\n          abc\n        helm-checksum/configmap.settings: >-\n          abc\n        c: d\n")},
		{"stale stamps in a flow map of several lines", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: {\n        helm-checksum/configmap.gone: a, # x\n        c: d, # y\n        helm-checksum/secret.gone: a # z\n      }\n")},
		{"stale stamps of several lines", false, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        helm-checksum/configmap.gone:\n          abc\n        helm-checksum/configmap.settings: \"abc\n          def\"\n        c: d\n")},
		{"stale stamps twice", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations:\n        helm-checksum/configmap.gone: a\n        helm-checksum/configmap.gone: b\n        helm-checksum/configmap.settings: a\n        helm-checksum/configmap.settings: b\n")},
		{"tabs after colons", false, settingsA1 + "---\n" + strings.Replace(body, "  template:\n", "  template:\t\n    metadata:\t# x\n      annotations:\t\n        a:\tb\n", 1)},
		{"written anew before a document end", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: &n {a: b}\n") + "      nodeSelector: *n\n...\n# after\n"},
		{"written anew before a document end, CRLF", true, settingsA1 + strings.ReplaceAll("---\n"+inTemplate("    metadata:\n      annotations: &n {a: b}\n")+"      nodeSelector: *n\n...\n# after\n", "\n", "\r\n")},
		{"written anew before another document", true, "---\n" + inTemplate("    metadata:\n      annotations: &n {a: b}\n") + "      nodeSelector: *n\n" + settingsA1},
		{"written anew behind a comment glued to the separator", true, settingsA1 + "\ufeff---#x\n" + flowR},
		{"written anew behind a glued separator", true, settingsA1 + "---" + inTemplate("    metadata:\n      annotations: &n {a: b}\n") + "      nodeSelector: *n\n"},
		{"written anew behind a glued separator, byte-order mark", true, settingsA1 + "\ufeff---" + flowR},
		{"written anew behind a glued separator, flow", true, settingsA1 + "---" + flowR},
		{"written anew first, glued", true, "---" + flowR + settingsA1},
		{"written anew first, on the separator's line", true, "--- " + flowR + settingsA1},
		{"written anew on the separator's line", true, settingsA1 + "--- " + flowR},
		{"written anew on the separator's line, byte-order mark", true, settingsA1 + "\ufeff--- " + flowR},
		{"written anew with separators in a block scalar", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: &n {a: b}\n") + "      nodeSelector: *n\n      x: |+\n        ---\n        ...\n\n\n"},
		{"written anew without a final newline", true, settingsA1 + "---\n" + inTemplate("    metadata:\n      annotations: &n {a: b}\n") + "      nodeSelector: *n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, plan := run(t, renderer.Options{}, c.stream)
			want := map[string]string{"configmap.settings": sumA1}
			found := stampsOf(t, out)
			if len(found) == 0 {
				t.Errorf("no stamps in:\n%s", out)
			}
			for at, got := range found {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s\n%s", at, diff, out)
				}
			}
			restyled := false
			for _, w := range plan.Workloads {
				if !w.Stamped {
					t.Errorf("%s is not stamped: %s", &w, w.Reason)
				}
				restyled = restyled || w.Restyled
			}
			if restyled != c.restyled {
				t.Errorf("restyled is %v, want %v:\n%s", restyled, c.restyled, out)
			}
			if len(plan.Configs) != 1 {
				t.Errorf("%d config objects, want one", len(plan.Configs))
			}
		})
	}
}

// What is written in a document's place ends its lines as the document does.
func TestLineEndsStay(t *testing.T) {
	place := map[string]string{
		"a block scalar":     "    metadata:\n      annotations:\n        helm-checksum/configmap.settings: |-\n          abc\n\n        c: d\n",
		"a gone one":         "    metadata:\n      annotations:\n        helm-checksum/configmap.gone: >2\n          abc\n           d\n        c: d\n",
		"null, on its line":  "    metadata:\n      annotations:\n        ~ # x\n",
		"an alias, likewise": "    metadata:\n      labels: &l {a: b}\n      annotations:\n        *l\n",
		"written anew":       "    metadata:\n      annotations: &n {a: b}\n      labels: *n\n",
	}
	for name, metadata := range place {
		t.Run(name, func(t *testing.T) {
			lf := settingsA1 + "---\n" + strings.Replace(deployment("web", envFrom("settings")), "  template:\n", "  template:\n"+metadata, 1)
			want, _ := run(t, renderer.Options{}, lf)
			got, _ := run(t, renderer.Options{}, strings.ReplaceAll(lf, "\n", "\r\n"))
			if diff := cmp.Diff(strings.ReplaceAll(want, "\n", "\r\n"), got); diff != "" {
				t.Errorf("with CRLF (-want +got):\n%s", diff)
			}
		})
	}
}
