package renderer

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// A Change is a workload whose pods roll on the way from one stream to another,
// because of what they consume.
type Change struct {
	Workload Ref            `json:"workload"`
	Template string         `json:"template"`
	Objects  []ObjectChange `json:"objects"` // by kind, then name
}

// An ObjectChange is a ConfigMap or Secret because of which a workload rolls.
type ObjectChange struct {
	Object Ref        `json:"object"`
	Change ChangeKind `json:"change"`
	Keys   []string   `json:"keys"` // that differ; ["*"] where all of an object came or went
}

// ChangeKind says how a stamp changes.
type ChangeKind string

// The kinds of change that Diff finds.
const (
	ContentChanged  ChangeKind = "changed" // the content of consumed keys
	KeysChanged     ChangeKind = "keys"    // not the content, but which keys are consumed
	NewlyStamped    ChangeKind = "added"   // the workload had no stamp for it
	NoLongerStamped ChangeKind = "removed" // it has none any more
)

// Diff says which workloads that are in both streams would roll on an upgrade from
// the old one to the new one, both stamped, and which objects and keys are the
// reason. It names keys, never values. Workloads that are in one stream only come
// or go, they do not roll. The error is of type *Error.
func Diff(before, after *Plan) ([]Change, error) {
	type id struct {
		group string
		ref   Ref
		path  string
	}
	idOf := func(w *Workload) id { return id{string(apiGroup([]byte(w.APIVersion))), w.Ref(), w.Template} }
	old := make(map[id][]int, len(before.Workloads))
	for i := range before.Workloads {
		key := idOf(&before.Workloads[i])
		old[key] = append(old[key], i)
	}
	// Of workloads that are in a stream twice the last one is what runs in the end, so the
	// last ones are held against each other, then those before them.
	was := make([]int, len(after.Workloads))
	for j := len(was) - 1; j >= 0; j-- {
		key := idOf(&after.Workloads[j])
		last := len(old[key]) - 1
		if last < 0 {
			was[j] = -1
			continue
		}
		was[j], old[key] = old[key][last], old[key][:last]
	}
	changes := []Change{}
	for j, i := range was {
		if i < 0 {
			continue
		}
		c, err := diffWorkload(before, i, after, j)
		if err != nil {
			return nil, err
		}
		if len(c.Objects) > 0 {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

func diffWorkload(before *Plan, i int, after *Plan, j int) (Change, error) {
	v, w := &before.Workloads[i], &after.Workloads[j]
	c := Change{Workload: w.Ref(), Template: w.Template}
	was, is := v.Stamps(), w.Stamps()
	if maps.Equal(was, is) {
		return c, nil
	}
	for m := range w.Consumes {
		line := &w.Consumes[m]
		if line.Status != Stamped || was[line.Annotation] == line.Checksum {
			continue
		}
		o := ObjectChange{Object: line.Ref(), Change: NewlyStamped, Keys: line.Keys}
		if old := v.consumption(line.Annotation); old != nil {
			o.Change = ContentChanged
			var err error
			o.Keys, err = changedKeys(before, before.source(i, old), old.Keys, after, after.source(j, line), line.Keys)
			if err != nil {
				return c, err
			}
			if len(o.Keys) == 0 {
				o.Change, o.Keys = KeysChanged, otherKeys(old.Keys, line.Keys)
			}
		}
		c.Objects = append(c.Objects, o)
	}
	for m := range v.Consumes {
		if line := &v.Consumes[m]; line.Status == Stamped {
			if _, stays := is[line.Annotation]; !stays {
				c.Objects = append(c.Objects, ObjectChange{line.Ref(), NoLongerStamped, line.Keys})
			}
		}
	}
	slices.SortStableFunc(c.Objects, func(a, b ObjectChange) int {
		return cmp.Or(cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Name, b.Object.Name))
	})
	return c, nil
}

// source returns the object behind a consumption of a workload.
func (p *Plan) source(workload int, c *Consumption) *config {
	for i := range p.Workloads[workload].Consumes {
		if &p.Workloads[workload].Consumes[i] == c {
			return p.sources[workload][i]
		}
	}
	return nil
}

// changedKeys returns the keys, of those that both sides consume, whose content is not
// the same on both.
func changedKeys(before *Plan, old *config, oldKeys []string, after *Plan, new *config, newKeys []string) ([]string, error) {
	a, _, err := readConfig(nil, &tree{}, before.stream, old)
	if err != nil {
		return nil, err
	}
	b, _, err := readConfig(nil, &tree{}, after.stream, new)
	if err != nil {
		return nil, err
	}
	candidates := make(map[string]bool)
	for _, side := range []struct {
		content     content
		keys, other []string
	}{{a, oldKeys, newKeys}, {b, newKeys, oldKeys}} {
		all := has(side.other, allKeys)
		for _, key := range side.keys {
			if key != allKeys && (all || has(side.other, key)) {
				candidates[key] = true
			}
		}
		if all && has(side.keys, allKeys) {
			for i := range side.content {
				candidates[string(side.content[i].key)] = true
			}
		}
	}
	var changed []string
	for _, key := range slices.Sorted(maps.Keys(candidates)) {
		x, hadIt := a.find([]byte(key))
		y, hasIt := b.find([]byte(key))
		if hadIt && hasIt {
			v, _ := x.decode()
			w, _ := y.decode()
			if bytes.Equal(v, w) {
				continue
			}
		} else if !hadIt && !hasIt {
			continue
		}
		changed = append(changed, key)
	}
	return changed, nil
}

// has says whether a list of keys, in ascending order, has a key.
func has(keys []string, key string) bool {
	_, found := slices.BinarySearch(keys, key)
	return found
}

// otherKeys returns the keys that are in one list only.
func otherKeys(a, b []string) []string {
	var other []string
	for _, pair := range [][2][]string{{a, b}, {b, a}} {
		for _, key := range pair[0] {
			if !has(pair[1], key) {
				other = append(other, key)
			}
		}
	}
	slices.Sort(other)
	return other
}
