package stamp

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// A Difference is a stamp that a HelmRelease should have otherwise.
type Difference struct {
	What   renderer.Problem
	Object string // the workload, such as Deployment prod/web
	Config string // the config object, such as ConfigMap web-config
	Keys   []string
	Detail string
}

func (d Difference) String() string {
	s := d.Object + ": " + d.Config
	if len(d.Keys) > 0 {
		s += ", keys " + strings.Join(d.Keys, ", ")
	}
	s += ": stamp is " + string(d.What)
	if d.Detail != "" {
		s += " (" + d.Detail + ")"
	}
	return s
}

// Differences compares the entries of ours that a release has, parsed, with the one that
// it must have.
func (r *Result) Differences(have []any, a *Answer) []Difference {
	got := map[helmrelease.Stamp]helmrelease.Stamp{}
	for _, e := range have {
		stamps, _ := helmrelease.Stamps(e)
		for _, s := range stamps {
			got[s.Key()] = s
		}
	}
	var order []helmrelease.Stamp
	want := map[helmrelease.Stamp]helmrelease.Stamp{}
	if !a.Entry.Empty() {
		stamps, _ := helmrelease.Stamps(a.Entry.Value())
		for _, s := range stamps {
			want[s.Key()] = s
			order = append(order, s)
		}
	}
	for key, s := range got {
		if _, ok := want[key]; !ok {
			order = append(order, s)
		}
	}
	slices.SortFunc(order, helmrelease.Stamp.Compare)

	var out []Difference
	for _, s := range order {
		w, wanted := want[s.Key()]
		g, there := got[s.Key()]
		if wanted && there && w == g {
			continue
		}
		d := Difference{Object: object(s), Config: config(s.Annotation)}
		if place, ok := a.About[s.Key()]; ok {
			c := r.Plan.Workloads[place.Workload].Consumes[place.Consumption]
			d.Config = c.Kind + " " + c.Name
			d.Keys = c.Keys
		}
		switch {
		case !there && w.Removed:
			d.What, d.Detail = renderer.Surplus, "the chart sets "+s.Annotation+" and the patch that removes it is missing"
		case !there:
			d.What = renderer.Missing
		case !wanted:
			d.What, d.Detail = renderer.Surplus, "nothing that the chart renders now calls for "+s.Annotation
		default:
			d.What, d.Detail = renderer.Stale, fmt.Sprintf("it is %s, the content's is %s", short(g), short(w))
		}
		out = append(out, d)
	}
	return out
}

// short is a checksum as far as people compare it.
func short(s helmrelease.Stamp) string {
	if s.Removed {
		return "a removal"
	}
	if len(s.Checksum) > 12 {
		return s.Checksum[:12] + "..."
	}
	return s.Checksum
}

// object names the object that a stamp is for.
func object(s helmrelease.Stamp) string {
	name := unescape(s.Name)
	if s.Namespace != "" {
		name = unescape(s.Namespace) + "/" + name
	}
	object := s.Kind + " " + name
	if s.Template != "spec.template" {
		object += " (" + s.Template + ")"
	}
	return object
}

// unescape turns a regular expression that matches one string into that string.
func unescape(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || re.Op != syntax.OpLiteral {
		return expression
	}
	return string(re.Rune)
}

// config names the object in a stamp's key.
func config(annotation string) string {
	_, key, _ := strings.Cut(annotation, "/")
	kind, name, _ := strings.Cut(key, ".")
	switch kind {
	case "configmap":
		kind = "ConfigMap"
	case "secret":
		kind = "Secret"
	}
	return kind + " " + name
}
