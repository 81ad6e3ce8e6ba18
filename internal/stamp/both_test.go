package stamp

import (
	"bytes"
	"context"
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// load makes a HelmRelease of a chart directory, with more of a spec if given.
func load(t *testing.T, chart, spec string) *release.Release {
	t.Helper()
	text := `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: demo, namespace: prod}
spec:
  chart: {spec: {chart: demo, sourceRef: {kind: HelmRepository, name: none}}}
` + spec
	set, err := release.LoadStream("test", []byte(text), ".", release.Options{Charts: map[string]string{"demo": chart}})
	if err != nil {
		t.Fatal(err)
	}
	if p := set.Problems(); len(p) > 0 || len(set.Releases()) != 1 {
		t.Fatal(p, set.Releases())
	}
	return set.Releases()[0]
}

// a place is where stamps are: object by object, pod template by pod template.
type place struct{ APIVersion, Kind, Namespace, Name, Template string }

// found are the stamps that a stream has.
func found(t *testing.T, streams [][]byte) map[place]map[string]string {
	t.Helper()
	p, err := plan(streams, renderer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stamps := map[place]map[string]string{}
	for _, w := range p.Workloads {
		if len(w.Found) > 0 {
			stamps[place{w.APIVersion, w.Kind, w.Namespace, w.Name, w.Template}] = maps.Clone(w.Found)
		}
	}
	return stamps
}

var optionSets = []struct {
	name    string
	options renderer.Options
}{
	{"plain", renderer.Options{Workloads: []string{"example.com/Fleet=spec.pools[*].template"}}},
	{"no Secrets", renderer.Options{IgnoreSecrets: true}},
	{"keyed", renderer.Options{HMACKey: []byte("key")}},
	{"opt-in", renderer.Options{OptIn: true}},
}

// TestPatchesGiveTheStampsOfThePostRenderer compares, for every chart, what helm-controller
// makes of the HelmRelease with our entry in it and what the post-renderer makes of the same
// render. What is random gets no stamp in Git, so it is left out on both sides.
func TestPatchesGiveTheStampsOfThePostRenderer(t *testing.T) {
	charts, err := filepath.Glob("../../charts-testdata/*/Chart.yaml")
	if err != nil || len(charts) == 0 {
		t.Fatal("no charts in charts-testdata", err)
	}
	charts = append(charts, "testdata/lists/Chart.yaml")
	for _, chart := range charts {
		dir := filepath.Dir(chart)
		for _, o := range optionSets {
			t.Run(filepath.Base(dir)+"/"+o.name, func(t *testing.T) {
				compareBothWays(t, load(t, dir, ""), o.options)
			})
		}
	}
}

func compareBothWays(t *testing.T, rel *release.Release, o renderer.Options) {
	t.Helper()
	ctx := context.Background()
	result, err := Of(ctx, rel.Render, rel.RenderAgain, o, NewLimit(1))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := result.Entry(nil)
	if err != nil {
		t.Fatal(err)
	}

	o.Namespace = "prod"
	engine, err := renderer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var stamped [][]byte
	for _, s := range result.streams {
		out, err := engine.Run(bytes.NewBuffer(bytes.Clone(s)))
		if err != nil {
			t.Fatal(err)
		}
		stamped = append(stamped, out.Bytes())
	}
	want := found(t, stamped)
	for p := range result.Random {
		w := result.Plan.Workloads[p.Workload]
		for at, stamps := range want {
			if at.Kind == w.Kind && at.Name == w.Name && at.Template == w.Template {
				delete(stamps, result.At(p).Annotation)
				if len(stamps) == 0 {
					delete(want, at)
				}
			}
		}
	}

	var entry map[string]any
	if !answer.Entry.Empty() {
		entry = answer.Entry.Value()
	}
	patched, err := rel.RenderWith(ctx, entry)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, found(t, patched.Streams)); d != "" {
		t.Errorf("the patches give other stamps than the post-renderer (-post-renderer +patches):\n%s", d)
	}
}

func TestEachStrategyIsStampedAsItIsRendered(t *testing.T) {
	for _, strategy := range []string{"combined", "separate", "nohooks"} {
		t.Run(strategy, func(t *testing.T) {
			compareBothWays(t, load(t, "../../charts-testdata/jobs-and-hooks", "  postRenderStrategy: "+strategy+"\n"), renderer.Options{})
		})
	}
}

func TestOneNameInSeveralNamespacesNeedsItsOwnTarget(t *testing.T) {
	rel := load(t, "testdata/twice", "")
	compareBothWays(t, rel, renderer.Options{})
	result, err := Of(context.Background(), rel.Render, rel.RenderAgain, renderer.Options{}, NewLimit(1))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := result.Entry(nil)
	if err != nil {
		t.Fatal(err)
	}
	var namespaces []string
	for _, p := range answer.Entry.Patches {
		namespaces = append(namespaces, p.Namespace)
	}
	if d := cmp.Diff([]string{"one", "default"}, namespaces); d != "" {
		t.Error(d)
	}
}
