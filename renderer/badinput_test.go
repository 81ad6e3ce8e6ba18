package renderer_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// What can't be stamped is refused with a message that says where, and no output.
func TestBadInput(t *testing.T) {
	settings := configMap("settings", "a: \"1\"\n")
	web := deployment("web", envFrom("settings"))
	for _, c := range []struct {
		name, stream, want string
		o                  renderer.Options
	}{
		{"a broken workload", settings + "---\n# Source: web/templates/deployment.yaml\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template: [\n  x: y\n",
			"document 2 (web/templates/deployment.yaml), line 14: did not find expected ',' or ']'", renderer.Options{}},
		{"a broken config object that is consumed", web + "---\n# Source: web/templates/configmap.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: \"1\n",
			"document 2 (web/templates/configmap.yaml), line 21, ConfigMap/settings: found unexpected end of stream", renderer.Options{}},
		{"a broken config object whose name can't be read", web + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings\ndata:\n  a: \"1\"\n",
			"document 2, line 18: did not find expected ',' or '}'", renderer.Options{}},
		{"a misplaced key", settings + strings.Replace(web, "    spec:\n", "    labels: x\n     spec:\n", 1),
			"document 2, line 16: mapping values are not allowed in this context", renderer.Options{}},
		{"a scalar where a spec belongs", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec: none\n",
			"document 1, line 7, Deployment/web: spec.template.spec is a string, want a map", renderer.Options{}},
		{"a scalar where a template belongs", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template: 1\n",
			"document 1, line 6, Deployment/web: spec.template is a number, want a map", renderer.Options{}},
		{"a scalar where metadata belongs", "apiVersion: apps/v1\nkind: Deployment\nmetadata: web\n",
			"document 1, line 3, Deployment: metadata is a string, want a map", renderer.Options{}},
		{"a scalar where data belongs", web + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: none\n",
			"document 2, line 19, ConfigMap/settings: data is a string, want a map", renderer.Options{}},
		{"a list where data belongs", web + "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n- a\n",
			"document 2, line 20, ConfigMap/settings: data is a list, want a map", renderer.Options{}},
		{"containers that are strings", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - app\n      - sidecar\n",
			"document 1, line 9, Deployment/web: spec.template.spec.containers[0] is a string, want a map", renderer.Options{}},
		{"containers that are a map", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers: {app: {}}\n",
			"document 1, line 8, Deployment/web: spec.template.spec.containers is a map, want a list", renderer.Options{}},
		{"a name that is a number", strings.Replace(web, "name: settings", "name: 12", 1) + settings,
			"document 1, line 13, Deployment/web: spec.template.spec.containers[0].envFrom[0].configMapRef.name is a number, want a string", renderer.Options{}},
		{"items of a list that are a map", "apiVersion: v1\nkind: List\nitems:\n  a: b\n",
			"document 1, line 4: items is a map, want a list", renderer.Options{}},
		{"annotations that are a list", strings.Replace(web, "    spec:\n", "    metadata:\n      annotations: [a]\n    spec:\n", 1) + settings,
			"document 1, line 9, Deployment/web: spec.template.metadata.annotations is a list, want a map", renderer.Options{}},
		{"annotations that are a string", strings.Replace(web, "    spec:\n", "    metadata:\n      annotations: a\n    spec:\n", 1) + settings,
			"document 1, line 9, Deployment/web: spec.template.metadata.annotations is a string, want a map", renderer.Options{}},
		{"template metadata that is a list", strings.Replace(web, "    spec:\n", "    metadata: [a]\n    spec:\n", 1) + settings,
			"document 1, line 8, Deployment/web: spec.template.metadata is a list, want a map", renderer.Options{}},
		{"two broken documents, the later one a config object", strings.Replace(web, "name: settings", "name: 12", 1) + "---\nkind: ConfigMap\nmetadata: web\n",
			"document 1, line 13, Deployment/web: spec.template.spec.containers[0].envFrom[0].configMapRef.name is a number, want a string", renderer.Options{}},
		{"a NUL byte", settings + "---\nkind: Service\nx: \"a\x00b\"\n", "line 10: a NUL byte: the input is not YAML", renderer.Options{}},
		{"UTF-16", "k\x00i\x00n\x00d\x00", "line 1: a NUL byte: the input is not YAML", renderer.Options{}},
		{"bytes that are not UTF-8", settings + "---\n\n# caf\xe9\n", "line 10: bytes that are not UTF-8: the input is not YAML", renderer.Options{}},
		{"an executable", "\x7fELF\x02\x01\x01\x00\x00\xff\xfe", "line 1: a NUL byte: the input is not YAML", renderer.Options{}},
		{"a gzip file", "\x1f\x8b\x08\xfe\xba", "line 1: bytes that are not UTF-8: the input is not YAML", renderer.Options{}},
		{"a control as a boolean", annotated("helm-checksum/skip: true\n", web) + settings,
			`document 1, line 6, Deployment/web: annotation helm-checksum/skip is a boolean, want a string in quotes`, renderer.Options{}},
		{"a control of another value", annotated("helm-checksum/skip: \"yes\"\n", web) + settings,
			`document 1, line 6, Deployment/web: annotation helm-checksum/skip: "yes", want "true" or "false"`, renderer.Options{}},
		{"a control that is misspelt", annotated("helm-checksum/ignores: configmap/settings\n", web) + settings,
			`document 1, line 6, Deployment/web: unknown annotation "helm-checksum/ignores"; the nearest known one is helm-checksum/ignore`, renderer.Options{}},
		{"a bad list", annotated("helm-checksum/ignore: configmap/settings, settings\n", web) + settings,
			`document 1, line 6, Deployment/web: annotation helm-checksum/ignore: "settings", want configmap/NAME or secret/NAME`, renderer.Options{}},
		{"a wildcard in consumes", annotated("helm-checksum/consumes: configmap/*\n", web) + settings,
			`document 1, line 6, Deployment/web: annotation helm-checksum/consumes: "configmap/*", want configmap/NAME, secret/NAME or either with NAMESPACE/NAME`, renderer.Options{}},
		{"a control of a consumed object", web + annotated("helm-checksum/skip: \"no\"\n", settings),
			`document 2, line 19, ConfigMap/settings: annotation helm-checksum/skip: "no", want "true" or "false"`, renderer.Options{}},
		{"a missing object under strict", web, "document 1, line 2, Deployment/web: ConfigMap/settings is not in the stream (containers[app].envFrom[0])", renderer.Options{Strict: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := runErr(t, c.o, c.stream)
			if err.Error() != c.want {
				t.Errorf("got  %v\nwant %s\nfor:\n%s", err, c.want, c.stream)
			}
			var placed *renderer.Error
			if !errors.As(err, &placed) {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

// What no workload needs is not looked at, so it can't fail.
func TestBadInputThatDoesNotMatter(t *testing.T) {
	web := deployment("web", envFrom("settings"))
	settings := configMap("settings", "a: \"1\"\n")
	for _, bad := range []string{
		"---\nkind: Service\nmetadata: [\n",
		"---\njust text\n",
		"---\n- a\n- [\n",
		"---\n\t\n",
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: unread\ndata:\n  a: \"1\n",
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: unread\n  annotations:\n    helm-checksum/skip: nonsense\n",
		"---\napiVersion: v1\nkind: Secret\nmetadata: {name: unread\n",
		"---\n!!binary \"\n",
	} {
		out, _ := run(t, renderer.Options{}, web+bad+settings)
		if !strings.Contains(out, bad) || !strings.Contains(out, sumA1) {
			t.Errorf("got:\n%s", out)
		}
	}
}

// Hostile inputs end in a bounded time, in an error or in output that is right.
func TestHostileInput(t *testing.T) {
	settings := configMap("settings", "a: \"1\"\n")
	dep := func(extra string) string {
		return strings.Replace(deployment("web", envFrom("settings")), "spec:\n", extra+"spec:\n", 1) + settings
	}
	bomb := func(levels int) string {
		var b strings.Builder
		b.WriteString("x0: &x0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
		for i := 1; i < levels; i++ {
			fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i-1), 10), ", "))
		}
		return b.String()
	}
	for _, c := range []struct {
		name, stream string
		want         string // "" for stamped output
	}{
		{"a line of 50 MB in a value", deployment("web", "containers:\n- env:\n  - valueFrom:\n      configMapKeyRef:\n        name: settings\n        key: a\n") +
			configMap("settings", "a: \"1\"\nb: "+strings.Repeat("x", 50<<20)+"\n"), ""},
		{"a line of 50 MB in a flow map", dep("x: {a: \"" + strings.Repeat("x", 50<<20) + "\"}\n"), ""},
		{"a line of 50 MB in a document that does not matter", "---\nkind: Service\nx: " + strings.Repeat("x", 50<<20) + "\n" + dep(""), ""},
		{"deep flow lists", dep("x: " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "\n"), "document 1, line 6: exceeded max depth of 10000"},
		{"deep flow maps", dep("x: " + strings.Repeat("{a: ", 100000) + strings.Repeat("}", 100000) + "\n"), "document 1, line 6: exceeded max depth of 10000"},
		{"deep block lists", dep("x:\n  " + strings.Repeat("- ", 100000) + "a\n"), "document 1, line 7: exceeded max depth of 10000"},
		{"deep JSON that does not matter", "---\n{\"kind\": \"Ingress\", \"x\": " + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + "}\n" + dep(""), ""},
		{"open brackets", dep("x: " + strings.Repeat("[", 1<<20) + "\n"), "document 1, line 6: exceeded max depth of 10000"},
		{"an alias bomb", dep(bomb(9)), "document 1, line 2: document contains excessive aliasing"},
		{"an alias in itself", dep("x: &a [*a]\n"), "document 1, line 6: an anchor that contains itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := cpuTime()
			if c.want == "" {
				out, _ := runFast(t, c.stream)
				if !strings.Contains(out, "helm-checksum/configmap.settings: "+sumA1) {
					t.Error("not stamped")
				}
			} else if err := runErr(t, renderer.Options{}, c.stream); err.Error() != c.want {
				t.Errorf("got  %.300s\nwant %s", err, c.want)
			}
			if took := cpuTime() - began; took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// runFast is run without the checks that take long on large inputs.
func runFast(t *testing.T, stream string) (string, *renderer.Plan) {
	t.Helper()
	plan, err := newRenderer(t, renderer.Options{}).Plan([]byte(stream))
	if err != nil {
		t.Fatalf("%.500s", err)
	}
	var b strings.Builder
	if _, err := plan.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String(), plan
}

// Whatever is wrong with a Secret, the message says nothing of what is in it.
func TestErrorsHoldNoSecrets(t *testing.T) {
	const value = "hunter2"
	reads := deployment("web", "containers:\n- envFrom:\n  - secretRef:\n      name: credentials\n")
	for _, data := range []string{
		"stringData: hunter2\n",
		"stringData: [hunter2]\n",
		"stringData:\n  password: \"hunter2\n",
		"stringData:\n  password: 'hunter2\n",
		"stringData:\n  password: hunter2: x\n",
		"stringData:\n  password: *hunter2\n",
		"stringData:\n  password: &hunter2 [*hunter2]\n",
		"stringData:\n  password: &hunter2\n    <<: *hunter2\n",
		"stringData:\n  password: !hunter2 x\n",
		"stringData:\n  password: !<hunter2 x\n",
		"stringData:\n  password: !hunter2!x y\n",
		"stringData:\n  password: !!int hunter2\n",
		"stringData:\n  password: !!float hunter2\n",
		"stringData:\n  password: !!bool hunter2\n",
		"stringData:\n  password: !!binary hunter2!\n",
		"stringData:\n  password: !!timestamp hunter2\n",
		"stringData:\n  password: !!null hunter2\n",
		"stringData:\n  <<: hunter2\n",
		"stringData:\n  <<: [hunter2]\n",
		"stringData:\n  ? [hunter2]\n  : x\n",
		"stringData:\n  ? {hunter2: x}\n  : x\n",
		"stringData:\n  password: @hunter2\n",
		"stringData:\n  password: `hunter2`\n",
		"stringData:\n  password: %hunter2\n",
		"stringData:\n  password: \"\\qhunter2\"\n",
		"stringData:\n  password: \"\\xhunter2\"\n",
		"stringData:\n  password: |9x hunter2\n",
		"stringData:\n  password: |\n   hunter2\n  hunter2\n",
		"stringData:\n\tpassword: hunter2\n",
		"stringData: {password: hunter2\n",
		"stringData: {password: [hunter2}\n",
		"stringData:\n- password: hunter2\n  - hunter2\n",
		"stringData:\n  password: .inf # hunter2\n",
		"stringData:\n  password: [.nan, hunter2]\n",
		"data:\n  password: hunter2!\n",
		"data:\n  password: [hunter2]\n",
		"data:\n  password: {hunter2: hunter2}\n",
		"data: hunter2\n",
		"stringData:\n  password: hunter2\n  annotations: [\n",
		"stringData:\n  password: x\ntype: [hunter2\n",
	} {
		for _, secret := range []string{
			"---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: credentials\n" + data,
			"---\napiVersion: v1\nkind: Secret\nmetadata: {name: credentials}\n" + data,
			"---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: credentials}\n" + indent(2, data),
		} {
			for _, o := range []renderer.Options{{}, {Strict: true}} {
				plan, err := newRenderer(t, o).Plan([]byte(reads + secret))
				if err != nil {
					if strings.Contains(err.Error(), value) {
						t.Errorf("the message holds the value: %v\nfor:\n%s", err, secret)
					}
					for e := err; e != nil; e = errors.Unwrap(e) {
						if strings.Contains(e.Error(), value) {
							t.Errorf("the message holds the value: %v\nfor:\n%s", e, secret)
						}
					}
					continue
				}
				report, err := plan.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(report), value) {
					t.Errorf("the report holds the value: %s\nfor:\n%s", report, secret)
				}
			}
		}
	}
}

func TestOptionsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		o    renderer.Options
		want string
	}{
		{renderer.Options{Skip: []string{"web"}}, `skip "web": want KIND/NAME, such as deployment/web or configmap/flags-*`},
		{renderer.Options{Skip: []string{"deployment/"}}, `skip "deployment/": want KIND/NAME, such as deployment/web or configmap/flags-*`},
		{renderer.Options{Ignore: []string{"deployment/web"}}, `ignore "deployment/web": "deployment/web", want configmap/NAME or secret/NAME`},
		{renderer.Options{Ignore: []string{"web:secret/x"}}, `ignore "web:secret/x": want KIND/NAME before the colon`},
		{renderer.Options{Workloads: []string{"example.com/Fleet"}}, `workload "example.com/Fleet": no = (want GROUP/KIND=PATH, such as example.com/Widget=spec.podTemplate)`},
		{renderer.Options{Workloads: []string{"Fleet=spec"}}, `workload "Fleet=spec": no / between group and kind (want GROUP/KIND=PATH, such as example.com/Widget=spec.podTemplate)`},
		{renderer.Options{Workloads: []string{"example.com/Fleet=spec..x"}}, `workload "example.com/Fleet=spec..x": the path has an empty or unreadable field (want GROUP/KIND=PATH, such as example.com/Widget=spec.podTemplate)`},
		{renderer.Options{Workloads: []string{"apps/Deployment=spec.template"}}, `workload "apps/Deployment=spec.template": Deployment is a kind that is known already`},
	} {
		if _, err := renderer.New(c.o); err == nil || err.Error() != c.want {
			t.Errorf("%+v:\ngot  %v\nwant %s", c.o, err, c.want)
		}
	}
}
