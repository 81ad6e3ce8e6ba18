// Package charts holds small charts, one a theme, and runs them through the Helm 3
// SDK with the engine as the post-renderer. Beside each chart, in expected/, is what
// is to come out: the stamped stream and the report. After a change that is meant,
// `go test ./charts-testdata -update` writes them anew; look at the difference.
package charts

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/postrender"
	"helm.sh/helm/v3/pkg/registry"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	postrenderer4 "helm.sh/helm/v4/pkg/postrenderer"
	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A Renderer is a post-renderer for both SDKs.
var (
	_ postrender.PostRenderer    = (*renderer.Renderer)(nil)
	_ postrenderer4.PostRenderer = (*renderer.Renderer)(nil)
)

var update = flag.Bool("update", false, "write the expected files anew")

const (
	releaseName = "demo"
	namespace   = "prod"
)

type values = map[string]any

func loadChart(t *testing.T, name string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Files {
		if strings.HasPrefix(f.Name, "expected/") {
			t.Fatalf("%s is in the chart: its .helmignore lacks expected/", f.Name)
		}
	}
	return c
}

// configuration is a cluster that takes everything and storage that forgets.
func configuration(t *testing.T) *action.Configuration {
	t.Helper()
	memory := driver.NewMemory()
	memory.SetNamespace(namespace)
	registryClient, err := registry.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	return &action.Configuration{
		Releases:       storage.Init(memory),
		KubeClient:     &kubefake.PrintingKubeClient{Out: &bytes.Buffer{}},
		Capabilities:   chartutil.DefaultCapabilities,
		RegistryClient: registryClient,
		Log:            func(string, ...any) {},
	}
}

// template does what `helm template --post-renderer` does, and returns the stream
// that the post-renderer was given and what Helm goes on with.
func template(t *testing.T, c *chart.Chart, v values, r *renderer.Renderer) (in, out string) {
	t.Helper()
	install := action.NewInstall(configuration(t))
	install.ReleaseName, install.Namespace = releaseName, namespace
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	tap := &tap{r: r}
	install.PostRenderer = tap
	rel, err := install.Run(c, v)
	if err != nil {
		t.Fatal(err)
	}
	return tap.in, rel.Manifest
}

// A tap keeps what a post-renderer is given.
type tap struct {
	r  postrender.PostRenderer
	in string
}

func (p *tap) Run(b *bytes.Buffer) (*bytes.Buffer, error) {
	p.in = b.String()
	return p.r.Run(b)
}

func newRenderer(t *testing.T, o renderer.Options) *renderer.Renderer {
	t.Helper()
	r, err := renderer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// randomCharts give another stream at each render.
var randomCharts = map[string]bool{"random-password": true}

func TestCharts(t *testing.T) {
	charts, err := filepath.Glob("*/Chart.yaml")
	if err != nil || len(charts) < 12 {
		t.Fatalf("found only the charts %q: %v", charts, err)
	}
	for _, path := range charts {
		name := filepath.Dir(path)
		if randomCharts[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newRenderer(t, renderer.Options{})
			in, out := template(t, loadChart(t, name), values{}, r)
			plan, err := r.Plan([]byte(in))
			if err != nil {
				t.Fatal(err)
			}
			report, err := json.MarshalIndent(plan, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join(name, "expected", "output.yaml"), out)
			compare(t, filepath.Join(name, "expected", "report.json"), string(report)+"\n")

			again, err := r.Run(bytes.NewBufferString(out))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(out, again.String()); diff != "" {
				t.Errorf("a second run changes its own output (-first +second):\n%s", diff)
			}
			// A release namespace that is known changes no stamp where no chart names one.
			if name != "namespaces" {
				known, err := newRenderer(t, renderer.Options{Namespace: namespace}).Run(bytes.NewBufferString(in))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(out, known.String()); diff != "" {
					t.Errorf("with --namespace it differs (-without +with):\n%s", diff)
				}
			}
		})
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-expected +got; go test ./charts-testdata -update writes it anew):\n%s", path, diff)
	}
}

// podTemplates returns the pod templates of a stream's Deployments, by name.
func podTemplates(t *testing.T, stream string) map[string]any {
	t.Helper()
	all := make(map[string]any)
	for _, doc := range strings.Split("\n"+stream, "\n---\n") {
		var object struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct{ Template map[string]any }
		}
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			t.Fatal(err)
		}
		if object.Kind == "Deployment" {
			all[object.Metadata.Name] = object.Spec.Template
		}
	}
	return all
}

// pathRecorder lists the places where two values differ.
type pathRecorder struct {
	path  cmp.Path
	paths []string
}

func (r *pathRecorder) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }
func (r *pathRecorder) PopStep()                { r.path = r.path[:len(r.path)-1] }
func (r *pathRecorder) Report(result cmp.Result) {
	if !result.Equal() {
		var keys []string
		for _, step := range r.path {
			if m, ok := step.(cmp.MapIndex); ok {
				keys = append(keys, m.Key().String())
			}
		}
		r.paths = append(r.paths, strings.Join(keys, " "))
	}
}

func differences(a, b any) []string {
	var r pathRecorder
	cmp.Equal(a, b, cmp.Reporter(&r))
	return r.paths
}

// The story: a flag is switched in a ConfigMap, and the pods that read it roll, by one
// annotation, and no others.
func TestFeatureRecs(t *testing.T) {
	r := newRenderer(t, renderer.Options{})
	render := func(v values, version string) map[string]any {
		c := loadChart(t, "feature-recs")
		if version != "" {
			c.Metadata.Version = version
		}
		_, out := template(t, c, v, r)
		return podTemplates(t, out)
	}
	on := render(values{"featureRecs": "on"}, "")
	if len(on) != 2 {
		t.Fatalf("%d Deployments, want store and search", len(on))
	}
	want := []string{"demo-store metadata annotations helm-checksum/configmap.demo-flags"}
	if diff := cmp.Diff(want, differences(on, render(values{"featureRecs": "off"}, ""))); diff != "" {
		t.Errorf("on to off changes (-want +got):\n%s", diff)
	}
	for name, other := range map[string]map[string]any{
		"back on again":            render(values{"featureRecs": "on"}, ""),
		"a label of the ConfigMap": render(values{"featureRecs": "on", "team": "other"}, ""),
		"a new chart version":      render(values{"featureRecs": "on"}, "2.0.0"),
	} {
		if got := differences(on, other); len(got) > 0 {
			t.Errorf("%s changes %q in pod templates", name, got)
		}
	}
}

// Through install and upgrade, as programs on the SDK do it: both dry, and an upgrade
// of a release that the storage holds.
func TestInstallAndUpgrade(t *testing.T) {
	const on, off = "af9dcd6d971c71d60f1138a710f57171fed6b2a3d7ad8b6af67246e92cb2d96c", "f87ddf583676d24244f596de087f5f24ddbdb145db331f4b1694ba2bbb0d5d2b"
	r := newRenderer(t, renderer.Options{Namespace: namespace})
	config := configuration(t)
	install := func(dry bool) string {
		i := action.NewInstall(config)
		i.ReleaseName, i.Namespace, i.DryRun, i.PostRenderer = releaseName, namespace, dry, r
		rel, err := i.Run(loadChart(t, "feature-recs"), values{"featureRecs": "on"})
		if err != nil {
			t.Fatal(err)
		}
		return rel.Manifest
	}
	upgrade := func(featureRecs string, with postrender.PostRenderer) string {
		u := action.NewUpgrade(config)
		u.Namespace, u.DryRun, u.PostRenderer = namespace, true, with
		rel, err := u.Run(releaseName, loadChart(t, "feature-recs"), values{"featureRecs": featureRecs})
		if err != nil {
			t.Fatal(err)
		}
		return rel.Manifest
	}
	dry := install(true)
	if strings.Count(dry, on) != 1 {
		t.Errorf("a dry installation has not one stamp %s:\n%s", on, dry)
	}
	installed := install(false)
	if diff := cmp.Diff(dry, installed); diff != "" {
		t.Errorf("the installation differs from the dry one (-dry +real):\n%s", diff)
	}
	if diff := cmp.Diff(installed, upgrade("on", r)); diff != "" {
		t.Errorf("an upgrade that changes nothing changes (-installed +upgraded):\n%s", diff)
	}
	want := strings.NewReplacer(on, off, `FEATURE_RECS: "on"`, `FEATURE_RECS: "off"`).Replace(installed)
	if diff := cmp.Diff(want, upgrade("off", r)); diff != "" {
		t.Errorf("an upgrade from on to off (-want +got):\n%s", diff)
	}
	if out := upgrade("off", nil); strings.Contains(out, "helm-checksum/") {
		t.Errorf("stamps without the post-renderer:\n%s", out)
	}
}

// An error of the post-renderer fails the installation, and its reason comes out.
func TestFailingRender(t *testing.T) {
	i := action.NewInstall(configuration(t))
	i.ReleaseName, i.Namespace = releaseName, namespace
	i.PostRenderer = newRenderer(t, renderer.Options{Strict: true})
	_, err := i.Run(loadChart(t, "jobs-and-hooks"), values{})
	if err == nil || !strings.Contains(err.Error(), "ConfigMap/demo-of-a-hook is not in the stream") ||
		!strings.Contains(err.Error(), "(jobs-and-hooks/templates/all.yaml)") {
		t.Errorf("got %v, want the missing object and the chart's file", err)
	}
}

// Lines of edge-cases.md that want a real render.
func TestEdgeCases(t *testing.T) {
	t.Run("25_a_random_password_is_hashed_as_rendered", func(t *testing.T) {
		r := newRenderer(t, renderer.Options{})
		seen := make(map[string]bool)
		for range 2 {
			_, out := template(t, loadChart(t, "random-password"), values{}, r)
			password := between(out, "password: \"", "\"")
			if len(password) != 24 {
				t.Fatal("no password was rendered")
			}
			want := renderer.Checksum("Secret", map[string][]byte{"password": []byte(password)}, []string{"*"}, nil)
			got := between(out, "helm-checksum/secret.demo: ", "\n")
			if got != want {
				t.Errorf("the stamp is %q, want that of the rendered Secret, %q", got, want)
			}
			seen[got] = true
		}
		if len(seen) != 2 {
			t.Error("two renders gave one password: the test tests nothing")
		}
	})
	t.Run("26_a_config_object_that_is_only_a_hook", func(t *testing.T) {
		r := newRenderer(t, renderer.Options{})
		in, _ := template(t, loadChart(t, "jobs-and-hooks"), values{}, r)
		plan, err := r.Plan([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, w := range plan.Workloads {
			for _, c := range w.Consumes {
				if c.Name == "demo-of-a-hook" {
					found = true
					if c.Status != renderer.External {
						t.Errorf("status %s, want external: Helm 3 hands over no hooks", c.Status)
					}
				}
			}
			if w.Name == "demo-hook" {
				t.Error("Helm 3 handed a hook over")
			}
		}
		if !found {
			t.Error("nothing reads the hook's object")
		}
	})
	t.Run("33_crds_come_through", func(t *testing.T) {
		c := loadChart(t, "feature-recs")
		crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.com\n  description: \"Deployment ConfigMap\"   \n"
		c.Files = append(c.Files, &chart.File{Name: "crds/widget.yaml", Data: []byte(crd)})
		install := action.NewInstall(configuration(t))
		install.ReleaseName, install.Namespace = releaseName, namespace
		install.DryRun, install.ClientOnly, install.IncludeCRDs = true, true, true
		tap := &tap{r: newRenderer(t, renderer.Options{})}
		install.PostRenderer = tap
		rel, err := install.Run(c, values{})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(tap.in, crd) || !strings.Contains(rel.Manifest, crd) {
			t.Errorf("the definition is not what it was:\n%s", rel.Manifest)
		}
	})
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}
