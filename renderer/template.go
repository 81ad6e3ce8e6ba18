package renderer

import (
	"iter"
	"maps"
	"slices"
)

// A workloadDocument is a document that has pod templates. Its memory is used again for
// the next one.
type workloadDocument struct {
	document
	tree          *tree // its pod templates are marked; stays as it is until the next one is read
	byBlockReader bool
	workloads     []workload

	file  string // see chartFile
	asked bool   // it is known
}

// chartFile returns the chart's file that the document is from, if the stream says so.
func (d *workloadDocument) chartFile(stream []byte) string {
	if !d.asked {
		d.file, d.asked = d.source(stream), true
	}
	return d.file
}

// A workload is one pod template of such a document.
type workload struct {
	Workload
	kind     *workloadKind
	own      string // the namespace as written
	controls controls
	refs     references
	due      map[string]string // the stamps that it is to have
	site     site
	located  bool // the site is known
}

// add appends a workload.
func (d *workloadDocument) add() *workload {
	d.workloads = another(d.workloads)
	w := &d.workloads[len(d.workloads)-1]
	*w = workload{refs: w.refs, due: w.due, site: site{written: w.site.written}}
	w.refs.reset()
	if len(w.due) > manyThings {
		w.due = nil // what a map has room for, it goes through
	}
	if w.due == nil {
		w.due = make(map[string]string)
	}
	clear(w.due)
	return w
}

// read reads the workloads of a document, and what they refer to.
func (p *planner) read(d document) error {
	t, byBlockReader, err := readDocument(p.scratch, p.stream, d)
	if err != nil {
		return failed(p.stream, d, "", nil, 0, err)
	}
	p.at = workloadDocument{document: d, tree: t, byBlockReader: byBlockReader, workloads: p.at.workloads[:0]}
	return p.eachObject(d, t, func(o objectPlace) error {
		if o.kind == nil {
			return nil // collect took it
		}
		return p.workload(t, o)
	})
}

// workload takes an object with pod templates.
func (p *planner) workload(t *tree, o objectPlace) error {
	metadata, err := t.wantMap(o.node, "metadata")
	if err != nil {
		return err
	}
	own, err := t.wantString(metadata, "namespace")
	if err != nil {
		return err
	}
	var c controls
	if err := c.read(t, metadata, workloadControls); err != nil {
		return err
	}
	base := Workload{
		Kind:      o.kind.kind,
		Namespace: p.effective(own),
		Name:      o.name(t),
	}
	if p.report != nil {
		base.APIVersion = t.named(o.apiVersion)
		base.Source = p.at.chartFile(p.stream)
		base.Note = o.kind.note(t, o.node)
	}
	add := func(template string) *workload {
		w := p.at.add()
		w.Workload, w.kind, w.own, w.controls = base, o.kind, own, c
		w.Template = template
		return w
	}
	before := len(p.at.workloads)
	for _, path := range o.kind.paths {
		if p.places, err = t.templates(p.places[:0], o.node, path); err != nil {
			return err
		}
		for _, place := range p.places {
			if err := p.template(add(place.path), t, o, place); err != nil {
				return err
			}
			if place.path != "" {
				t.nodes[place.node].template = true
			}
		}
	}
	if len(p.at.workloads) == before {
		w := add(o.kind.paths[0])
		w.Reason = noTemplate
		if t.at(o.node, "spec", "workloadRef") != 0 {
			w.Reason = elsewhere
		}
	}
	return nil
}

// template reads the pod template of a workload.
func (p *planner) template(w *workload, t *tree, o objectPlace, place templatePlace) error {
	if place.path != "" {
		// The object's own lists are shared by all of its templates.
		w.controls.ignore = slices.Clip(w.controls.ignore)
		w.controls.consumes = slices.Clip(w.controls.consumes)
		if err := w.controls.read(t, t.at(place.node, "metadata"), workloadControls); err != nil {
			return err
		}
		if err := checkAnnotations(t, place.node); err != nil {
			return err
		}
		w.Found = stampsOn(t, place.node)
		if p.at.byBlockReader {
			w.located = w.site.locate(p.stream, t, place.node, t, place.node)
		}
	}
	w.Reason = p.reason(w, t, o.node, place.node)
	p.pod.reset(t, &p.names, &w.refs, p.report != nil || p.options.Strict)
	if err := p.pod.template(place.node); err != nil {
		return err
	}
	for _, c := range w.controls.consumes {
		w.refs.add(c, false, "metadata.annotations["+consumesControl+"]").all = true
	}
	return nil
}

const (
	noTemplate = "it has no pod template"
	bySkip     = "the annotation " + skipControl + " says so"
	bySkipFlag = "the skip option names it"
	byOptIn    = "only workloads annotated " + stampControl + `: "true" are stamped`
	nothing    = "it consumes no ConfigMap or Secret"
	noneToTake = "nothing that it consumes is to be stamped"
)

// reason says why a workload as a whole is not stamped, "" if it may be.
func (p *planner) reason(w *workload, t *tree, object, template int32) string {
	if r := w.kind.reason(t, object, template); r != "" {
		return r
	}
	switch {
	case w.controls.skip:
		return bySkip
	case p.skips(w.Kind, w.Name):
		return bySkipFlag
	case p.options.OptIn && !w.controls.stamp:
		return byOptIn
	}
	return ""
}

func stampsOn(t *tree, template int32) map[string]string {
	var found map[string]string
	for a := range t.stamps(template) {
		if found == nil {
			found = make(map[string]string)
		}
		found[string(t.nodes[a].key)] = t.stampValue(a)
	}
	return found
}

// checkAnnotations refuses a pod template whose metadata or annotations hold something,
// but are no map.
func checkAnnotations(t *tree, template int32) error {
	n := template
	for _, key := range []string{"metadata", "annotations"} {
		if n = t.get(n, key); n != 0 && t.nodes[n].kind != mapping && !emptyValue(t, n) {
			return &typeError{n, "a map"}
		}
	}
	return nil
}

// hasStamps says whether a pod template has these stamps and no others.
func hasStamps(t *tree, template int32, stamps map[string]string) bool {
	n := 0
	for a := range t.stamps(template) {
		n++
		want, ok := stamps[string(t.nodes[a].key)]
		if !ok {
			return false
		}
		if t.nodes[a].kind != text || string(t.textOf(a)) != want {
			n = -1 // right only if another entry of that key comes later
			break
		}
	}
	return n == len(stamps) || maps.Equal(stampsOn(t, template), stamps)
}

// stamps ranges over the stamps among a pod template's annotations.
func (t *tree) stamps(template int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		annotations := t.at(template, "metadata", "annotations")
		if t.nodes[annotations].kind != mapping {
			return
		}
		for a := range t.children(annotations) {
			if isStamp(t.nodes[a].key) && !yield(a) {
				return
			}
		}
	}
}

// stampValue returns the value of a stamp; "" for what is no string, so no checksum.
func (t *tree) stampValue(n int32) string {
	if t.nodes[n].kind != text {
		return ""
	}
	return string(t.textOf(n))
}
