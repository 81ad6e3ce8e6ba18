package renderer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// fuzzOptions are the options that FuzzRun runs with.
var fuzzOptions = []Options{
	{},
	{Namespace: "prod"},
	{Strict: true, OptIn: true},
	{IgnoreSecrets: true, HMACKey: []byte("key"), Skip: []string{"deployment/skip-*"}, Ignore: []string{"deployment/web:configmap/*-ignored"}},
	{Workloads: []string{"example.com/Widget=spec.pods[*]"}},
}

var (
	cutLine    = regexp.MustCompile(`(?m)^(?:\x{feff})?(?:---(?:[ \t\r\n{#"']|[A-Za-z]|$)|\.\.\.(?:[ \t\r\n]|$))`)
	markerLine = regexp.MustCompile(`^(?:\x{feff})?(?:---|\.\.\.[^\n]*\n?)`)
	checksum64 = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// cut cuts a stream at the lines that begin like document markers. It shares
// nothing with the engine's splitter.
func cut(stream []byte) [][]byte {
	var parts [][]byte
	from := 0
	for _, at := range cutLine.FindAllIndex(stream, -1) {
		parts = append(parts, stream[from:at[0]])
		from = at[0]
	}
	return append(parts, stream[from:])
}

// parse reads a part as Kubernetes does. It says no for what is not readable, or
// not the same each time: sigs.k8s.io/yaml takes either of the keys true and "true".
func parse(part []byte) (any, bool) {
	marker := markerLine.Find(part)
	text := part[len(marker):]
	text = bytes.TrimPrefix(text, bom)
	text = bytes.ReplaceAll(text, []byte("\n\ufeff"), []byte("\n"))
	j, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, false
	}
	for range 8 {
		if again, _ := yaml.YAMLToJSON(text); !bytes.Equal(j, again) {
			return nil, false
		}
	}
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil, false
	}
	return v, true
}

// templatePaths are all the places where any kind of object has pod templates.
var templatePaths = [][]string{
	{},
	{"spec", "template"},
	{"spec", "jobTemplate", "spec", "template"},
	{"spec", "leaderWorkerTemplate", "leaderTemplate"},
	{"spec", "leaderWorkerTemplate", "workerTemplate"},
	{"spec", "pods"},
}

// takeStamps removes the stamps from all pod templates of an object, and what is
// empty without them, and returns them by template and key.
func takeStamps(v any, at string, stamps map[string]any) {
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	if items, ok := object["items"].([]any); ok {
		for i, item := range items {
			takeStamps(item, at+"/"+string(rune('0'+i)), stamps)
		}
	}
	for _, path := range templatePaths {
		n := v
		for _, field := range path {
			m, _ := n.(map[string]any)
			n = m[field]
		}
		list, ok := n.([]any)
		if !ok {
			list = []any{n}
		}
		for i, template := range list {
			takeTemplateStamps(template, at+strings.Join(path, ".")+string(rune('0'+i)), stamps)
		}
	}
}

func takeTemplateStamps(v any, at string, stamps map[string]any) {
	template, ok := v.(map[string]any)
	if !ok {
		return
	}
	empty := func(v any) bool {
		m, isMap := v.(map[string]any)
		return v == nil || v == "" || isMap && len(m) == 0
	}
	metadata, _ := template["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	for key, value := range annotations {
		if strings.HasPrefix(key, "helm-checksum/configmap.") || strings.HasPrefix(key, "helm-checksum/secret.") {
			stamps[at+"@"+key] = value
			delete(annotations, key)
		}
	}
	if a, ok := metadata["annotations"]; ok && empty(a) {
		delete(metadata, "annotations")
	}
	if m, ok := template["metadata"]; ok && empty(m) {
		delete(template, "metadata")
	}
}

// neverStamped are the kinds that get no stamp.
var neverStamped = []any{"Job", "CronJob", "Pod", "ReplicaSet", "ReplicationController"}

// checkRun holds what Run promises against one stream.
func checkRun(t *testing.T, o Options, stream []byte) {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	in := bytes.Clone(stream)
	out, err := r.Run(bytes.NewBuffer(in))
	if !bytes.Equal(in, stream) {
		t.Fatalf("the input was written to\n%q", stream)
	}
	plan, planErr := r.Plan(in)
	if fmt.Sprint(err) != fmt.Sprint(planErr) {
		t.Fatalf("Run says %v, Plan says %v\n%q", err, planErr, stream)
	}
	if err == nil {
		var planned bytes.Buffer
		if _, err := plan.WriteTo(&planned); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(planned.Bytes(), out.Bytes()) {
			t.Fatalf("the output depends on whether a report is made\n%q\n%q\n%q", stream, out, &planned)
		}
	}
	if err != nil {
		if out != nil {
			t.Fatalf("an error and an output\n%q", stream)
		}
		return
	}
	if len(stream) > 0 && out.Len() == 0 || len(stream) == 0 && out.Len() > 0 {
		t.Fatalf("%d bytes became %d\n%q", len(stream), out.Len(), stream)
	}
	before, after := cut(stream), cut(out.Bytes())
	if len(before) != len(after) {
		t.Fatalf("%d documents became %d\n%q\n%q", len(before), len(after), stream, out)
	}
	for i := range before {
		if bytes.Equal(before[i], after[i]) {
			continue
		}
		was, ok := parse(before[i])
		if !ok {
			return // a stream that is cut otherwise by YAML
		}
		is, ok := parse(after[i])
		if !ok {
			t.Fatalf("a document is not readable any more\n%q\n%q", before[i], after[i])
		}
		had, has := make(map[string]any), make(map[string]any)
		takeStamps(was, "", had)
		takeStamps(is, "", has)
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("a document means something else\n%q\n%q", before[i], after[i])
		}
		if reflect.DeepEqual(had, has) {
			t.Fatalf("a document with the right stamps was changed\n%q\n%q", before[i], after[i])
		}
		kind := is.(map[string]any)["kind"]
		for key, value := range has {
			if had[key] == value {
				continue
			}
			if s, ok := value.(string); !ok || !checksum64.MatchString(s) {
				t.Fatalf("the stamp %s is %v\n%q", key, value, stream)
			}
			if slices.Contains(neverStamped, kind) {
				t.Fatalf("a %s got the stamp %s\n%q", kind, key, stream)
			}
		}
	}
	again, err := r.Run(bytes.NewBuffer(bytes.Clone(out.Bytes())))
	if err != nil {
		t.Fatalf("a second run fails: %v\n%q\n%q", err, stream, out)
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Fatalf("a second run changes something\n%q\n%q\n%q", stream, out, again)
	}
}

// runSeeds are streams for FuzzRun: a Deployment, in many forms, and what it consumes.
func runSeeds() []string {
	config := "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  k: v\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: q}\n"
	spec := "{containers: [{name: x, envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]}]}"
	deployment := func(template string) string {
		return "---\n# Source: web/templates/d.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n" + template
	}
	old := strings.Repeat("0", 63) + "a"
	templates := []string{
		"    spec: " + spec + "\n",
		"    spec: " + spec,
		"    metadata:\n      labels:\n        a: b\n    spec: " + spec + "\n",
		"    metadata:\n    spec: " + spec + "\n",
		"    metadata: {}\n    spec: " + spec + "\n",
		"    metadata: null\n    spec: " + spec + "\n",
		"    metadata: {labels: {a: b}}\n    spec: " + spec + "\n",
		"    metadata: {creationTimestamp: null, annotations: {a: b}}\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        {}\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        null\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        a: b # c\n        # d\n    spec: " + spec + "\n",
		"    metadata:\n      annotations: \"\"\n    spec: " + spec + "\n",
		"    metadata:\n      \"annotations\": # c\n        'a': b\n    spec: " + spec + "\n",
		"    metadata:\n      annotations: &a {b: c}\n      labels: *a\n    spec: " + spec + "\n",
		"    metadata:\n      labels: &a {b: c}\n      annotations: *a\n    spec: " + spec + "\n",
		"    metadata:\n      annotations: &a {b: \"c\\Nd\\x7f\\uFEFF\"}\n      labels: *a\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        <<: {b: c}\n        d: e\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        a: b\n      annotations:\n        c: d\n    spec: " + spec + "\n",
		"    ? metadata\n    : annotations: {a: b}\n    spec: " + spec + "\n",
		"    spec: " + spec + "\n    metadata:\n      annotations:\n        a: |\n          b\n\n",
		"    metadata:\n      annotations:\n        helm-checksum/configmap.c: " + old + "\n        helm-checksum/secret.gone: \"" + old + "\"\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        helm-checksum/configmap.gone: x\n    spec: {}\n",
		"    metadata:\n      annotations: {helm-checksum/configmap.gone: x, a: b, helm-checksum/secret.s: y}\n    spec: " + spec + "\n",
		"    metadata:\n      annotations:\n        helm-checksum/consumes: \"secret/s, configmap/ns/c\"\n        helm-checksum/ignore: configmap/c*\n    spec: {}\n",
		"      metadata:\n          annotations:\n            a: b\n      spec:\n          containers:\n          - name: x\n            env:\n            - name: E\n              valueFrom:\n                configMapKeyRef: {name: c, key: k, optional: true}\n          volumes:\n          - name: v\n            projected:\n              sources:\n              - secret: {name: s, items: [{key: p, path: p}]}\n",
		"    - not: a map\n",
		"    spec: {containers: [a]}\n",
	}
	all := []string{
		"", "\n", "# only\n", "---\n---\n", "...\n", "a: b\n", "\ufeff" + config, "{", "\x00", "\xff",
		strings.ReplaceAll(config, "---\n", "---") + "---apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: " + spec + "}}\n",
		config + "---\n{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"template\":{\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"c\"}}]}}}}\n",
		config + "--- {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: web}, spec: {template: {spec: " + spec + "}}}\n",
		config + "---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: web}\n  spec: {template: {spec: &spec " + spec + "}}\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: two}\n  spec: {template: {spec: *spec}}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: in-list}\n",
		config + "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: " + spec + "}}\n---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: j}\nspec: {jobTemplate: {spec: {template: {spec: " + spec + "}}}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {helm-checksum/configmap.c: x}}\nspec: " + spec + "\n",
		config + "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  pods:\n  - spec: " + spec + "\n  - metadata:\n      name: x\n    spec: " + spec + "\n",
		config + "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: l}\nspec:\n  leaderWorkerTemplate:\n    leaderTemplate: &t\n      spec: " + spec + "\n    workerTemplate: *t\n",
		config + config,
	}
	for _, t := range templates {
		all = append(all, config+deployment(t), deployment(t)+config, strings.ReplaceAll(config+deployment(t), "\n", "\r\n"))
	}
	return all
}

func TestRunKeepsItsPromisesOnSeeds(t *testing.T) {
	for _, o := range fuzzOptions {
		for _, s := range runSeeds() {
			checkRun(t, o, []byte(s))
		}
	}
}

// The seeds are worth nothing if they are refused, or if nothing is stamped in them.
func TestRunSeedsAreStamped(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, s := range runSeeds() {
		if p, err := r.Plan([]byte(s)); err == nil && p.Changed() {
			changed++
		}
	}
	if want := len(runSeeds()) * 3 / 4; changed < want {
		t.Errorf("%d of %d seeds are stamped, want %d", changed, len(runSeeds()), want)
	}
}

// Pod templates in forms that no one has thought of.
func TestRunKeepsItsPromisesOnGeneratedTemplates(t *testing.T) {
	g, n := newGenerator(t, 3000, "annotations", "annotations", "labels", "a", "helm-checksum/configmap.c", "helm-checksum/secret.gone", "'annotations'")
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for range n {
		g.b = g.b[:0]
		g.put("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {k: v}\n")
		if g.rarely(2) {
			g.put("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec:\n  template:\n")
		} else {
			g.put("---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: w}\n  x: !!str a\n  spec:\n   template:\n")
		}
		spec := "    spec: {containers: [{name: x, envFrom: [{configMapRef: {name: c}}]}]}\n"
		first := g.rarely(2)
		if first {
			g.put(spec)
		}
		g.put("    metadata:")
		if g.rarely(2) {
			g.put("\n      annotations:")
			g.value(6, 0)
		} else {
			g.value(4, 0)
		}
		if !first {
			g.put(spec)
		}
		if g.rarely(10) {
			g.b = bytes.ReplaceAll(g.b, []byte("\n"), []byte("\r\n"))
		}
		checkRun(t, Options{}, g.b)
		switch p, err := r.Plan(g.b); {
		case err == nil && p.Changed():
			changed++
		case err != nil && strings.Contains(err.Error(), "can't be written"):
			t.Errorf("%v\n%q", err, g.b)
		}
	}
	t.Logf("%d of %d streams are stamped", changed, n)
	if changed < n/10 {
		t.Errorf("only %d of %d streams are stamped: this tests nothing", changed, n)
	}
}

// FuzzRun: for any input no panic, and either an error without output or an output
// that means the input and the stamps.
func FuzzRun(f *testing.F) {
	for i, s := range runSeeds() {
		f.Add([]byte(s), uint8(i))
	}
	config := []byte("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b}\n")
	addCorpus(f, func(doc []byte) { f.Add(slices.Concat(config, doc), uint8(0)) })
	f.Fuzz(func(t *testing.T, stream []byte, options uint8) {
		checkRun(t, fuzzOptions[int(options)%len(fuzzOptions)], stream)
	})
}
