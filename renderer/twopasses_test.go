package renderer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A document that looks like a workload and is a config object is found in the first pass.
func TestConfigObjectsThatLookLikeWorkloads(t *testing.T) {
	const reader = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      volumes: [configMap: {name: settings}]\n"
	for name, config := range map[string]string{
		"a later kind in quotes":        "---\napiVersion: v1\nkind: Deployment\n\"kind\": ConfigMap\nmetadata: {name: settings}\ndata: {a: \"1\"}\n",
		"a later kind":                  "---\napiVersion: v1\nkind: Deployment\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: \"1\"}\n",
		"a later kind behind a lone CR": "---\napiVersion: apps/v1\nkind: Deployment\nx: y\rkind: ConfigMap\rapiVersion: v1\rmetadata: {name: settings}\rdata: {a: \"1\"}\n",
		"behind a NEL":                  "---\napiVersion: apps/v1\nkind: Deployment\nx: y\u0085kind: ConfigMap\u0085apiVersion: v1\u0085metadata: {name: settings}\u0085data: {a: \"1\"}\n",
		"behind a line separator":       "---\napiVersion: apps/v1\nkind: Deployment\nx: y\u2028kind: ConfigMap\u2028apiVersion: v1\u2028metadata: {name: settings}\u2028data: {a: \"1\"}\n",
	} {
		plan, err := newRenderer(t, renderer.Options{}).Plan([]byte(config + reader))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c := consumption(t, plan, "Deployment/web", "ConfigMap", "settings"); c.Status != renderer.Stamped || c.Checksum != sumA1 {
			t.Errorf("%s: %s, checksum %q, want %s", name, c.Status, c.Checksum, sumA1)
		}
	}
}

// Of several errors the first in the stream is told, config objects and workloads alike.
func TestTheFirstErrorIsTold(t *testing.T) {
	const (
		badWorkload = "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: w}\n  spec: {template: x}\n"
		badConfig   = "- apiVersion: v1\n  kind: ConfigMap\n  metadata: x\n"
		list        = "---\nkind: List\nitems:\n"
	)
	for _, c := range []struct {
		stream, want string
		line         int
	}{
		{list + badWorkload + badConfig, "spec.template", 7},
		{list + badConfig + badWorkload, "metadata", 6},
		{list + badWorkload + list + badConfig, "spec.template", 7},
		{list + badConfig + list + badWorkload, "metadata", 6},
	} {
		err := runErr(t, renderer.Options{}, c.stream)
		var placed *renderer.Error
		if !errors.As(err, &placed) || placed.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one of %s on line %d, in:\n%s", err, c.want, c.line, c.stream)
		}
	}
}

// A document's chart file is its own, in the report and in errors.
func TestEachDocumentHasItsSource(t *testing.T) {
	doc := func(name string) string {
		return "---\n# Source: web/templates/" + name + ".yaml\n" + strings.TrimPrefix(deployment(name, envFrom("gone-"+name)), "---\n")
	}
	stream := doc("a") + doc("b") + deployment("c", envFrom("gone-c"))
	plan, err := newRenderer(t, renderer.Options{}).Plan([]byte(stream))
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, w := range plan.Workloads {
		sources = append(sources, w.Source)
	}
	if got, want := fmt.Sprintf("%q", sources), `["web/templates/a.yaml" "web/templates/b.yaml" ""]`; got != want {
		t.Errorf("sources %s, want %s", got, want)
	}
	_, err = newRenderer(t, renderer.Options{Strict: true}).Stamp([]byte(stream))
	for _, want := range []string{
		"document 1 (web/templates/a.yaml), line 2, Deployment/a: ConfigMap/gone-a is not in the stream",
		"document 2 (web/templates/b.yaml), line 16, Deployment/b: ConfigMap/gone-b is not in the stream",
		"document 3, line 30, Deployment/c: ConfigMap/gone-c is not in the stream",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want in it: %s", err, want)
		}
	}
}

// What a pod names with and without its own namespace has the plain key.
func TestKeyOfWhatIsNamedTwice(t *testing.T) {
	settings := inNamespace("prod", configMap("settings", "a: \"1\"\n"))
	for _, consumes := range []string{"configmap/prod/settings, configmap/settings", "configmap/settings, configmap/prod/settings"} {
		web := inNamespace("prod", annotated("helm-checksum/consumes: "+consumes+"\n", deployment("web", "containers: []\n")))
		wantStamps(t, renderer.Options{}, settings+web, stamps{"Deployment/web spec.template": {"configmap.settings": sumA1}})
	}
}

// An old stamp stays where its object is elsewhere, unless a new one has its key.
func TestAFreshStampBeatsAKeptOne(t *testing.T) {
	settings := inNamespace("other", configMap("settings", "a: \"1\"\n"))
	key := renderer.AnnotationKey("ConfigMap", "settings", "other")
	name := strings.TrimPrefix(key, "helm-checksum/configmap.")
	for _, external := range []string{name, "elsewhere"} {
		web := annotated("helm-checksum/consumes: configmap/other/settings\n", inNamespace("prod", deployment("web", envFrom(external))))
		web = strings.Replace(web, "    spec:\n", "    metadata:\n      annotations:\n        helm-checksum/configmap."+external+": old\n    spec:\n", 1)
		want := map[string]string{"configmap." + external: "old"}
		want["configmap."+name] = sumA1
		plan := wantStamps(t, renderer.Options{}, settings+web, stamps{"Deployment/web spec.template": want})
		due := make(map[string]string)
		for k, v := range plan.Workloads[0].Stamps() {
			due[strings.TrimPrefix(k, "helm-checksum/")] = v
		}
		if !maps.Equal(due, want) {
			t.Errorf("the plan has the stamps %v, want %v", due, want)
		}
	}
}

// What is to be stamped follows from a report, so a Plan that was read from one can be verified.
func TestStampsFollowFromTheReport(t *testing.T) {
	plan, err := newRenderer(t, renderer.Options{}).Plan([]byte(configMap("settings", "a: \"1\"\n") + deployment("web", envFrom("settings"))))
	if err != nil {
		t.Fatal(err)
	}
	report, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var read renderer.Plan
	if err := json.Unmarshal(report, &read); err != nil {
		t.Fatal(err)
	}
	differences := renderer.Verify(&read)
	if len(differences) != 1 || differences[0].Problem != renderer.Missing || differences[0].Annotation != "helm-checksum/configmap.settings" {
		t.Errorf("differences %v, want the one missing stamp", differences)
	}
}

// Two pod templates of which one is the other's metadata: odd, but the other is stamped.
func TestTemplateInAnothersMetadata(t *testing.T) {
	stream := configMap("settings", "a: \"1\"\n") + "---\napiVersion: example.com/v1\nkind: W\nmetadata: {name: w}\nspec:\n  template:\n    metadata:\n      labels: {a: b}\n    spec:\n      volumes: [configMap: {name: settings}]\n"
	out, err := newRenderer(t, renderer.Options{Workloads: []string{"example.com/W=spec.template", "example.com/W=spec.template.metadata"}}).Stamp([]byte(stream))
	if err != nil || !out.Changed() {
		t.Errorf("error %v, want stamps", err)
	}
}
