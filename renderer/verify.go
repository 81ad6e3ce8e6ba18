package renderer

import (
	"maps"
	"slices"
)

// Problem says what is wrong with a stamp that a stream has or should have.
type Problem string

// The problems that Verify finds.
const (
	Missing Problem = "missing" // the pod template lacks the stamp
	Stale   Problem = "stale"   // the stamp is not the object's checksum
	Surplus Problem = "surplus" // nothing calls for the stamp
)

// A Difference is one stamp in a stream that is not as it should be.
type Difference struct {
	Workload   Ref      `json:"workload"`
	Template   string   `json:"template"`
	Annotation string   `json:"annotation"`
	Problem    Problem  `json:"problem"`
	Object     *Ref     `json:"object,omitempty"` // what the stamp is for; nil if surplus
	Keys       []string `json:"keys,omitempty"`   // that the workload consumes of it
}

// A Ref names an object.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"` // empty if unknown
	Name      string `json:"name"`
}

// String returns KIND/NAME, or KIND/NAMESPACE/NAME when the namespace is known.
func (r Ref) String() string {
	if r.Namespace != "" {
		return r.Kind + "/" + r.Namespace + "/" + r.Name
	}
	return r.Kind + "/" + r.Name
}

// Ref names the workload.
func (w *Workload) Ref() Ref { return Ref{w.Kind, w.Namespace, w.Name} }

// Ref names the object that is consumed.
func (c *Consumption) Ref() Ref { return Ref{c.Kind, c.Namespace, c.Name} }

// Verify compares the stamps that a stream has with those that it should have, and
// returns what differs, in stream order. A stamp for an object that is outside the
// stream can't be judged, so it is no difference.
func Verify(p *Plan) []Difference {
	var all []Difference
	for i := range p.Workloads {
		w := &p.Workloads[i]
		stamps := w.Stamps()
		keys := slices.Sorted(maps.Keys(w.Found))
		for key := range stamps {
			if _, ok := w.Found[key]; !ok {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		for _, key := range keys {
			found, has := w.Found[key]
			want, wanted := stamps[key]
			d := Difference{Workload: w.Ref(), Template: w.Template, Annotation: key}
			switch {
			case !wanted:
				d.Problem = Surplus
			case !has:
				d.Problem = Missing
			case found != want:
				d.Problem = Stale
			default:
				continue
			}
			if c := w.consumption(key); c != nil {
				ref := c.Ref()
				d.Object, d.Keys = &ref, c.Keys
			}
			all = append(all, d)
		}
	}
	return all
}

// consumption returns the consumption that a stamp is for.
func (w *Workload) consumption(annotation string) *Consumption {
	for i := range w.Consumes {
		if w.Consumes[i].Annotation == annotation {
			return &w.Consumes[i]
		}
	}
	return nil
}
