package release

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReleaseNamesAndNamespaces(t *testing.T) {
	long := strings.Repeat("a-long-namespace-", 3) + "x"
	for _, test := range []struct{ name, spec, release, target, storage string }{
		{"defaults", "", "web", "apps", "apps"},
		{"targetNamespace", "  targetNamespace: prod\n", "prod-web", "prod", "apps"},
		{"releaseName", "  targetNamespace: prod\n  releaseName: mine\n", "mine", "prod", "apps"},
		{"storageNamespace", "  storageNamespace: flux\n", "web", "apps", "flux"},
		// sha256 of the 56 characters begins with the 12 digits.
		{"shortened", "  targetNamespace: " + long + "\n", (long + "-web")[:40] + "-" + sha256Hex([]byte(long + "-web"))[:12], long, "apps"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := only(t, checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
				"apps/release.yaml": helmRelease(localChart + test.spec),
			})), Options{})
			got := []string{r.ReleaseName, r.TargetNamespace, r.StorageNamespace}
			if diff := cmp.Diff([]string{test.release, test.target, test.storage}, got); diff != "" {
				t.Error(diff)
			}
			rendered := render(t, r)
			if rendered.Namespace != test.target {
				t.Errorf("namespace is %s", rendered.Namespace)
			}
			if ns := dataIn(t, rendered.Stream, test.release+"-config")["namespace"]; ns != test.target {
				t.Errorf("the chart saw namespace %v", ns)
			}
		})
	}
	if got := shortenName(strings.Repeat("a", 54)); len(got) != 53 {
		t.Errorf("%s has %d characters", got, len(got))
	}
	if got := strings.Repeat("a", 53); shortenName(got) != got {
		t.Error("53 characters are shortened")
	}
}

func TestNamesThatCanNotBe(t *testing.T) {
	for field, name := range map[string]string{
		"targetNamespace": "Prod", "storageNamespace": "a_b", "releaseName": strings.Repeat("a", 54),
	} {
		t.Run(field, func(t *testing.T) {
			files := merged(under("charts/web", webChart("1.0.0")), map[string]string{"apps/release.yaml": helmRelease(localChart + "  " + field + ": " + name + "\n")})
			wantError(t, only(t, checkout(t, files), Options{}), "HelmRelease apps/web: spec."+field+": ", name, "lower case letters")
		})
	}
	variable := merged(under("charts/web", webChart("1.0.0")), map[string]string{"apps/release.yaml": helmRelease(localChart + "  targetNamespace: ${NS}\n")})
	wantError(t, only(t, checkout(t, variable), Options{}), "HelmRelease apps/web: spec.targetNamespace: makes ${NS}-web", "--var")
	render(t, only(t, checkout(t, variable), Options{Vars: map[string]string{"NS": "prod"}}))
	unknown := merged(under("charts/web", webChart("1.0.0")), map[string]string{"apps/release.yaml": helmRelease(localChart + "  storageNamespace: ${NAMESPACE}\n")})
	render(t, only(t, checkout(t, unknown), Options{}))
}

func TestLoadFindsReleasesWhereverTheyAre(t *testing.T) {
	dir := checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
		"charts/web/templates/hr.yaml": helmRelease(localChart), // a chart's template is none of ours
		".hidden/release.yaml":         helmRelease(localChart),
		"a/list.yaml":                  "# comment\n---\nkind: ConfigMap\n---\napiVersion: v1\nkind: List\nitems:\n- {kind: ConfigMap}\n- " + indented(helmRelease(localChart)),
		"b/old.yaml":                   strings.Replace(helmRelease(localChart), "/v2\n", "/v2beta1\n", 1),
		"b/patch.yaml":                 helmRelease("  chart: {spec: {version: 1.x}}\n  values: {a: b}\n"),
		"b/kustomization.yaml":         "patches:\n- path: full.yaml\n",
		"b/full.yaml":                  helmRelease(localChart),
		"c/foreign.yaml":               "apiVersion: example.com/v1\nkind: HelmRelease\nmetadata: {name: x}\n",
		"c/crlf.yaml":                  strings.ReplaceAll("---\n"+helmRelease(localChart)+"---\n", "\n", "\r\n"),
	}))
	s, err := Load([]string{dir, filepath.Join(dir, "b/old.yaml")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		Path             string
		Doc, Line, Index int
		IsPatch          bool
	}
	var got []found
	for _, r := range s.Releases() {
		rel, err := filepath.Rel(dir, r.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, found{filepath.ToSlash(rel), r.Doc, r.Line, r.Index, r.IsPatch})
	}
	want := []found{
		{"a/list.yaml", 2, 5, 1, false},
		{"b/full.yaml", 1, 1, -1, true},
		{"b/old.yaml", 1, 1, -1, false},
		{"b/patch.yaml", 1, 1, -1, true},
		{"c/crlf.yaml", 1, 2, -1, false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Problems()) != 0 {
		t.Errorf("problems: %v", s.Problems())
	}
	if len(s.Files()) != len(want) {
		t.Errorf("%d files, want %d", len(s.Files()), len(want))
	}
}

func indented(text string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

func TestOneBrokenFileHidesNoOther(t *testing.T) {
	dir := checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
		"good.yaml":    helmRelease(localChart),
		"broken.yaml":  "a: b\n---\nkind: HelmRelease\nspec: [\n",
		"unnamed.yaml": strings.Replace(helmRelease(localChart), "  name: web\n", "", 1),
		"typed.yaml":   helmRelease(localChart + "  valuesFrom: {kind: Secret}\n"),
		"version.yaml": strings.Replace(helmRelease(localChart), "/v2\n", "/v9\n", 1),
		"sops.yaml":    helmRelease(localChart) + "sops: {mac: x}\n",
		"quoted.yaml":  strings.Replace(helmRelease(localChart), "  name: web\n", "  name: web\n  annotations: {helm-checksum/skip: true}\n", 1),
	}))
	s, err := Load([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Releases()) != 1 {
		t.Errorf("%d releases, want 1", len(s.Releases()))
	}
	want := map[string][]string{
		"broken.yaml":  {"document 2", "line 3"},
		"quoted.yaml":  {"HelmRelease apps/web", "metadata.annotations[helm-checksum/skip]", "quote it"},
		"sops.yaml":    {"encrypted with SOPS"},
		"typed.yaml":   {"HelmRelease apps/web", "spec.valuesFrom: want a list, found a map"},
		"unnamed.yaml": {"metadata.name is missing"},
		"version.yaml": {"v9", "v2beta1"},
	}
	if len(s.Problems()) != len(want) {
		t.Errorf("%d problems, want %d: %v", len(s.Problems()), len(want), s.Problems())
	}
	for _, p := range s.Problems() {
		name := ""
		for file := range want {
			if strings.Contains(p.Error(), file) {
				name = file
			}
		}
		hasParts(t, p, append(want[name], dir)...)
	}
	if _, err := Load([]string{filepath.Join(dir, "absent")}, Options{}); err == nil {
		t.Error("a path that does not exist is no error")
	}
}

func TestLoadStreamTakesObjectsOfTheStreamFirst(t *testing.T) {
	dir := valuesCheckout(t, "", nil)
	stream := helmRelease(localChart+"  valuesFrom: [{kind: ConfigMap, name: web-values}, {kind: Secret, name: web-secret, valuesKey: password, targetPath: extra}]\n") +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web-values, namespace: apps}\ndata: {values.yaml: 'greeting: from the stream'}\n"
	s, err := LoadStream("-", []byte(stream), filepath.Join(dir, "apps"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	values := valuesSeen(t, s.Releases()[0])
	if values["greeting"] != "from the stream" || values["extra"] != "hunter2" {
		t.Errorf("values are %v", values)
	}
}

func TestTheKustomizationBesideAFileGivesTheNamespace(t *testing.T) {
	dir := checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
		"apps/release.yaml":       strings.Replace(helmRelease(localChart), "  namespace: apps\n", "", 1),
		"apps/kustomization.yaml": "namespace: staging\nresources: [./release.yaml]\n",
	}))
	if r := only(t, dir, Options{}); r.Namespace != "staging" || r.TargetNamespace != "staging" {
		t.Errorf("namespace is %q, target namespace %q", r.Namespace, r.TargetNamespace)
	}
	if err := os.Remove(filepath.Join(dir, "apps/kustomization.yaml")); err != nil {
		t.Fatal(err)
	}
	rendered := render(t, only(t, dir, Options{}))
	if rendered.Namespace != "default" || !strings.Contains(strings.Join(rendered.Warnings, "\n"), "metadata.namespace is missing") {
		t.Errorf("namespace is %q, warnings are %q", rendered.Namespace, rendered.Warnings)
	}
}

func TestVariables(t *testing.T) {
	spec := localChart + "  values:\n    greeting: ${WHO:=world} ${CITY} $${KEPT}\n"
	dir := checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{"release.yaml": helmRelease(spec)}))
	for _, test := range []struct {
		name    string
		vars    map[string]string
		want    string
		warning string
	}{
		{"none", nil, "${WHO:=world} ${CITY} $${KEPT}", "variables were not substituted (CITY, WHO)"},
		{"some", map[string]string{"CITY": "Rome\n"}, "world Rome ${KEPT}", ""},
		{"all", map[string]string{"CITY": "Rome", "WHO": "you"}, "you Rome ${KEPT}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := only(t, dir, Options{Vars: test.vars})
			if got := valuesSeen(t, r)["greeting"]; got != test.want {
				t.Errorf("greeting is %q, want %q", got, test.want)
			}
			if got := strings.Join(render(t, r).Warnings, "\n"); (test.warning == "") != (got == "") || !strings.Contains(got, test.warning) {
				t.Errorf("warnings are %q, want %q", got, test.warning)
			}
		})
	}
	disabled := strings.Replace(helmRelease(spec), "  name: web\n", "  name: web\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n", 1)
	dir = checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{"release.yaml": disabled}))
	r := only(t, dir, Options{Vars: map[string]string{"CITY": "Rome"}})
	if got := valuesSeen(t, r)["greeting"]; got != "${WHO:=world} ${CITY} $${KEPT}" {
		t.Errorf("substitution disabled: greeting is %q", got)
	}
	if _, err := Load(nil, Options{Vars: map[string]string{"a-b": "c"}}); err == nil {
		t.Error("a-b is taken for a variable")
	}
}

func TestReleasesRenderSideBySide(t *testing.T) {
	files := under("charts/web", webChart("1.0.0"))
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		files["apps/"+name+".yaml"] = strings.Replace(helmRelease(localChart+"  values: {greeting: "+name+"}\n"), "name: web\n", "name: "+name+"\n", 1)
	}
	s, err := Load([]string{checkout(t, files)}, Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	results := make([]*Rendered, len(s.Releases()))
	var group sync.WaitGroup
	for i, r := range s.Releases() {
		group.Go(func() {
			var err error
			if results[i], err = r.Render(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for i, r := range s.Releases() {
		if results[i] == nil {
			continue
		}
		if diff := cmp.Diff(string(render(t, r).Stream), string(results[i].Stream)); diff != "" {
			t.Error(diff)
		}
		if values, _ := dataIn(t, results[i].Stream, r.Name+"-config")["values"].(string); !strings.Contains(values, `"greeting":"`+r.Name+`"`) {
			t.Errorf("%s saw %s", r.Name, values)
		}
	}
}
