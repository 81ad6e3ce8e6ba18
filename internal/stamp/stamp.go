// Package stamp finds out which stamps a rendered chart gets, as a post-renderer would
// give them, and puts them into the form in which Flux takes them: an entry of a
// HelmRelease's spec.postRenderers.
package stamp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// A Render renders one release or chart, each time anew.
type Render func(context.Context) (*release.Rendered, error)

// A Limit bounds how many renders run at once.
type Limit chan struct{}

// NewLimit returns a Limit of n, at least 1.
func NewLimit(n int) Limit { return make(Limit, max(n, 1)) }

func (l Limit) do(ctx context.Context, r Render) (*release.Rendered, error) {
	select {
	case l <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-l }()
	return r(ctx)
}

// A Result is what is known of a release after rendering it twice.
type Result struct {
	// Plan covers all streams that Helm hands to a post-renderer, one after the other.
	Plan     *renderer.Plan
	Warnings []string // the render's and the plan's

	// Random holds the consumptions whose content differed between the renders.
	Random map[Place]bool

	// LeftOut holds the consumptions of Secrets that got no stamp only because
	// Options.IgnoreSecrets is set.
	LeftOut map[Place]bool

	options renderer.Options
	streams [][]byte
}

// A Place is a consumption's place in a Plan.
type Place struct{ Workload, Consumption int }

// Of renders twice and plans. again renders with everything changed that may differ in the
// cluster. The options' namespace is overridden by the release's, which is known here.
func Of(ctx context.Context, render, again Render, o renderer.Options, limit Limit) (*Result, error) {
	first, err := limit.do(ctx, render)
	if err != nil {
		return nil, err
	}
	o.Namespace = first.Namespace
	r := &Result{options: o, streams: first.Streams, Random: map[Place]bool{}, LeftOut: map[Place]bool{}}
	if r.Plan, err = plan(r.streams, o); err != nil {
		return nil, err
	}
	r.Warnings = append(slices.Clone(first.Warnings), r.Plan.Warnings...)
	if !consumesAnything(r.Plan) {
		return r, nil
	}
	second, err := limit.do(ctx, again)
	if err != nil {
		return nil, err
	}
	if err := r.compare(second.Streams); err != nil {
		return nil, err
	}
	return r, nil
}

// plan plans each stream for itself, as a post-renderer does, and joins the plans.
func plan(streams [][]byte, o renderer.Options) (*renderer.Plan, error) {
	engine, err := renderer.New(o)
	if err != nil {
		return nil, err
	}
	all := &renderer.Plan{Workloads: []renderer.Workload{}, Configs: []renderer.Config{}}
	all.Warnings = []string{}
	for _, s := range streams {
		p, err := engine.Plan(s)
		if err != nil {
			return nil, err
		}
		all.Workloads = append(all.Workloads, p.Workloads...)
		all.Configs = append(all.Configs, p.Configs...)
		all.Warnings = append(all.Warnings, p.Warnings...)
	}
	return all, nil
}

// consumesAnything says whether some config object of the stream is consumed, left out or not.
func consumesAnything(p *renderer.Plan) bool {
	for _, w := range p.Workloads {
		for _, c := range w.Consumes {
			if c.Status == renderer.Stamped || c.Status == renderer.Ignored {
				return true
			}
		}
	}
	return false
}

// compare finds what is random: what has another checksum in a second render, or is not
// there under the same name. Secrets that are left out are compared too: who makes a
// random password at each render should know it, stamped or not.
func (r *Result) compare(second [][]byte) error {
	all := r.options
	all.IgnoreSecrets, all.Strict = false, false
	before := r.Plan
	if r.options.IgnoreSecrets {
		var err error
		if before, err = plan(r.streams, all); err != nil {
			return err
		}
	}
	after, err := plan(second, all)
	if err != nil {
		return err
	}
	checksums := map[consumptionKey]string{}
	for place, key := range consumptions(after) {
		checksums[key] = after.Workloads[place.Workload].Consumes[place.Consumption].Checksum
	}
	for place, key := range consumptions(before) {
		c := before.Workloads[place.Workload].Consumes[place.Consumption]
		if c.Status != renderer.Stamped {
			continue
		}
		if r.At(place).Status == renderer.Ignored {
			r.LeftOut[place] = true
		}
		if checksums[key] != c.Checksum {
			r.Random[place] = true
		}
	}
	return nil
}

// LeftOut counts the Secrets in a stream that would be stamped for if the options did not
// leave Secrets out.
func LeftOut(stream []byte, o renderer.Options) (int, error) {
	if !o.IgnoreSecrets {
		return 0, nil
	}
	o.IgnoreSecrets, o.Strict = false, false
	p, err := plan([][]byte{stream}, o)
	if err != nil {
		return 0, err
	}
	secrets := map[renderer.Ref]bool{}
	for _, w := range p.Workloads {
		for _, c := range w.Consumes {
			if c.Kind == "Secret" && c.Status == renderer.Stamped {
				secrets[c.Ref()] = true
			}
		}
	}
	return len(secrets), nil
}

// At is the consumption at a place of the Plan.
func (r *Result) At(p Place) renderer.Consumption {
	return r.Plan.Workloads[p.Workload].Consumes[p.Consumption]
}

// A consumptionKey says what a consumption is about, whatever its place.
type consumptionKey struct {
	apiVersion, kind, namespace, name, template string // the workload
	configKind, configNamespace, configName     string
}

func consumptions(p *renderer.Plan) map[Place]consumptionKey {
	keys := map[Place]consumptionKey{}
	for i, w := range p.Workloads {
		for j, c := range w.Consumes {
			keys[Place{i, j}] = consumptionKey{w.APIVersion, w.Kind, w.Namespace, w.Name, w.Template, c.Kind, c.Namespace, c.Name}
		}
	}
	return keys
}

// RandomObjects names the objects that differ between renders, sorted.
func (r *Result) RandomObjects() []string {
	names := map[string]bool{}
	for place := range r.Random {
		c := r.At(place)
		names[c.Kind+" "+c.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// An Answer is the entry that a release must have, with what each of its stamps is about.
type Answer struct {
	Entry helmrelease.Entry
	About map[helmrelease.Stamp]Place // by Stamp.Key
}

// Entry computes the entry of spec.postRenderers that gives the release's workloads the
// stamps that the post-renderer would give them, random ones left out. It is checked:
// what kustomize makes of the stream with it has these stamps and no others of ours.
//
// current is the parsed spec.postRenderers of the release; if it has the entry already,
// it has been checked before.
func (r *Result) Entry(current []any) (*Answer, error) {
	want := r.stamps()
	written, err := r.writtenNamespaces()
	if err != nil {
		return nil, err
	}
	var a *Answer
	var different error
	// Kustomize takes an object without namespace to be in "default", and a target without
	// one to be everywhere. The second try is for names that are in several namespaces in
	// ways that the plan does not show.
	for _, absent := range []string{"", kustomizeNamespace} {
		if a, err = r.answer(want, written, absent); err != nil {
			return nil, err
		}
		if a.Entry.Empty() || len(current) > 0 && helmrelease.Current(current, a.Entry) {
			return a, nil
		}
		var patched [][]byte
		for _, s := range r.streams {
			p, err := release.ApplyEntry(s, a.Entry.Value())
			if err != nil {
				return nil, fmt.Errorf("kustomize can't apply the stamps' patches: %w", err)
			}
			patched = append(patched, p)
		}
		if different = r.check(patched, want); different == nil {
			return a, nil
		}
	}
	return nil, different
}

// stampSet is what one pod template is to gain and to lose.
type stampSet struct {
	set    map[string]Place
	remove []string
}

// stamps are the stamps of each workload of the plan.
func (r *Result) stamps() []stampSet {
	sets := make([]stampSet, len(r.Plan.Workloads))
	for i, w := range r.Plan.Workloads {
		s := stampSet{set: map[string]Place{}}
		random := map[string]bool{}
		for j, c := range w.Consumes {
			switch {
			case c.Status != renderer.Stamped:
			case r.Random[Place{i, j}]:
				random[c.Annotation] = true
			default:
				s.set[c.Annotation] = Place{i, j}
			}
		}
		stamps := w.Stamps()
		for _, key := range slices.Sorted(maps.Keys(w.Found)) {
			_, stays := stamps[key] // one whose object is elsewhere does
			if _, set := s.set[key]; !set && (!stays || random[key]) {
				s.remove = append(s.remove, key)
			}
		}
		sets[i] = s
	}
	return sets
}

// writtenNamespaces are the namespaces that the workloads have in the stream itself; a
// plan that knows the release namespace fills in what is absent.
func (r *Result) writtenNamespaces() ([]string, error) {
	o := r.options
	o.Namespace, o.Strict = "", false
	without, err := plan(r.streams, o)
	if err != nil {
		return nil, err
	}
	var written []string
	for _, w := range without.Workloads {
		written = append(written, w.Namespace)
	}
	return written, nil
}

// answer puts stamps into patches, one for each object.
func (r *Result) answer(want []stampSet, written []string, absent string) (*Answer, error) {
	a := &Answer{About: map[helmrelease.Stamp]Place{}}
	type identity struct{ apiVersion, kind, namespace, name string }
	index := map[identity]int{}
	for i, w := range r.Plan.Workloads {
		if len(want[i].set) == 0 && len(want[i].remove) == 0 {
			continue
		}
		group, version, ok := strings.Cut(w.APIVersion, "/")
		if !ok {
			group, version = "", w.APIVersion
		}
		id := identity{w.APIVersion, w.Kind, written[i], w.Name}
		at, seen := index[id]
		if !seen {
			at = len(a.Entry.Patches)
			index[id] = at
			namespace := written[i]
			if namespace == "" {
				namespace = absent
			}
			if namespace == "" && r.elsewhere(i, written) {
				namespace = kustomizeNamespace
			}
			a.Entry.Patches = append(a.Entry.Patches, helmrelease.Patch{
				Group: group, Version: version, Kind: w.Kind, Name: w.Name, Namespace: namespace,
			})
		}
		t := helmrelease.Template{Path: w.Template, Set: map[string]string{}, Remove: want[i].remove}
		for key, place := range want[i].set {
			t.Set[key] = w.Consumes[place.Consumption].Checksum
		}
		if strings.Contains(w.Template, "[") {
			lacks, err := r.lacks(w, written[i])
			if err != nil {
				return nil, err
			}
			t.Lacks = lacks
		}
		p := &a.Entry.Patches[at]
		p.Templates = append(p.Templates, t)
		one := helmrelease.Entry{Patches: []helmrelease.Patch{*p}}
		one.Patches[0].Templates = []helmrelease.Template{t}
		stamps, _ := helmrelease.Stamps(one.Value())
		for _, s := range stamps {
			if place, ok := want[i].set[s.Annotation]; ok {
				a.About[s.Key()] = place
			}
		}
	}
	return a, nil
}

// kustomizeNamespace is where kustomize takes an object without a namespace to be
// (ResId.EffectiveNamespace in sigs.k8s.io/kustomize/kyaml/resid).
const kustomizeNamespace = "default"

// elsewhere says whether a workload's name is in another written namespace too.
func (r *Result) elsewhere(i int, written []string) bool {
	w := r.Plan.Workloads[i]
	for j, other := range r.Plan.Workloads {
		if other.Kind == w.Kind && other.Name == w.Name && written[j] != written[i] {
			return true
		}
	}
	return false
}

// lacks says what a pod template inside a list has not: metadata, annotations or nothing.
func (r *Result) lacks(w renderer.Workload, namespace string) (string, error) {
	dec := yaml.NewDecoder(bytes.NewReader(bytes.Join(r.streams, []byte("\n---\n"))))
	for {
		var o map[string]any
		if err := dec.Decode(&o); err != nil {
			return "", fmt.Errorf("%s %s: not found again in the stream: %w", w.Kind, w.Name, err)
		}
		metadata, _ := o["metadata"].(map[string]any)
		ns, _ := metadata["namespace"].(string)
		if o["apiVersion"] != w.APIVersion || o["kind"] != w.Kind || metadata["name"] != w.Name || ns != namespace {
			continue
		}
		var at any = o
		for field := range strings.FieldsFuncSeq(w.Template, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
			switch v := at.(type) {
			case map[string]any:
				at = v[field]
			case []any:
				n := 0
				if _, err := fmt.Sscan(field, &n); err != nil || n >= len(v) {
					return "", fmt.Errorf("%s %s: %s is not there", w.Kind, w.Name, w.Template)
				}
				at = v[n]
			}
		}
		template, _ := at.(map[string]any)
		m, ok := template["metadata"].(map[string]any)
		if !ok {
			return "metadata", nil
		}
		if _, ok := m["annotations"].(map[string]any); !ok {
			return "annotations", nil
		}
		return "", nil
	}
}

// check compares the stamps of the patched stream with those that are wanted.
func (r *Result) check(patched [][]byte, want []stampSet) error {
	after, err := plan(patched, r.options)
	if err != nil {
		return err
	}
	if len(after.Workloads) != len(r.Plan.Workloads) {
		return fmt.Errorf("kustomize changed the number of workloads from %d to %d", len(r.Plan.Workloads), len(after.Workloads))
	}
	for i, w := range r.Plan.Workloads {
		stamps := maps.Clone(w.Found)
		if stamps == nil {
			stamps = map[string]string{}
		}
		for _, key := range want[i].remove {
			delete(stamps, key)
		}
		for key, place := range want[i].set {
			stamps[key] = w.Consumes[place.Consumption].Checksum
		}
		p := after.Workloads[i]
		if p.Kind != w.Kind || p.Name != w.Name || !maps.Equal(p.Found, stamps) {
			return fmt.Errorf("%s %s: the patches do not give it exactly its own stamps through kustomize "+
				"(is there another %s of this name?)", w.Kind, w.Name, w.Kind)
		}
	}
	return nil
}
