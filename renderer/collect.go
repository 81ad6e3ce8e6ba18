package renderer

import (
	"bytes"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
)

// A stampedDocument is a document that has pod templates. Its memory is used again for
// the next one.
type stampedDocument struct {
	document
	tree          *tree
	byBlockReader bool
	templates     []int32 // that can be stamped
	workloads     []workload

	file  string // the chart's; see planner.file
	asked bool
}

// file returns the chart's file that the document at work is from, if the stream says so.
func (p *planner) file() string {
	if !p.at.asked {
		p.at.file, p.at.asked = p.at.source(p.stream), true
	}
	return p.at.file
}

// A workload is one pod template of a stamped document.
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
func (d *stampedDocument) add() *workload {
	d.workloads = another(d.workloads)
	w := &d.workloads[len(d.workloads)-1]
	*w = workload{refs: w.refs, due: w.due, site: site{written: w.site.written, keys: w.site.keys}}
	w.refs.reset()
	if w.due == nil {
		w.due = make(map[string]string)
	}
	clear(w.due)
	return w
}

// another makes a slice longer by an item, which is as a former user of the memory has
// left it.
func another[T any](s []T) []T {
	if len(s) < cap(s) {
		return s[:len(s)+1]
	}
	var none T
	return append(s, none)
}

// readDocument reads a document, by the block reader if that takes it.
// The tree is the given one then.
func readDocument(into *tree, stream []byte, d document) (t *tree, byBlockReader bool, err error) {
	if t, ok := readBlock(into, stream, d.body, d.end); ok {
		return t, true, nil
	}
	t, err = readValues(stream[d.body:d.end])
	return t, false, err
}

// collect takes the config objects of a document that matters, and notes the document if
// it has workloads.
func (p *planner) collect(seen *seenDocument) error {
	d := seen.document
	kind := seen.top.configKind()
	if kind != "" {
		if metadata, ok := readHead(p.scratch, p.stream, seen); ok {
			c := &config{object: object{kind: kind}, doc: d}
			if err := c.setMetadata(metadata, root); err == nil {
				p.configs = append(p.configs, c)
				return nil
			}
		}
	} else if seen.top.certain() && p.kinds.find(seen.top.apiVersion, seen.top.kind) != nil {
		p.documents = append(p.documents, d)
		return nil
	}
	t, _, err := readDocument(p.scratch, p.stream, d)
	if err != nil {
		err = failed(p.stream, d, "", nil, 0, err)
		if kind == "" {
			return err
		}
		// Nothing may consume it; match finds out.
		if p.unreadable[kind] == nil {
			if p.unreadable == nil {
				p.unreadable = make(map[string]error)
			}
			p.unreadable[kind] = err
		}
		return nil
	}
	workloads := false
	err = p.eachObject(d, t, func(o objectPlace) error {
		if o.kind != nil {
			workloads = true
			return nil
		}
		return p.config(d, t, o)
	})
	if err == nil && workloads {
		p.documents = append(p.documents, d)
	}
	return err
}

// read reads the workloads of a document, and what they refer to.
func (p *planner) read(d document) error {
	t, byBlockReader, err := readDocument(p.scratch, p.stream, d)
	if err != nil {
		return failed(p.stream, d, "", nil, 0, err)
	}
	p.at = stampedDocument{document: d, tree: t, byBlockReader: byBlockReader,
		templates: p.at.templates[:0], workloads: p.at.workloads[:0]}
	return p.eachObject(d, t, func(o objectPlace) error {
		if o.kind == nil {
			return nil // collect took it
		}
		return p.workload(t, o)
	})
}

// eachObject visits the workloads and config objects of a document. Errors get its place.
func (p *planner) eachObject(d document, t *tree, visit func(objectPlace) error) error {
	err := p.kinds.objects(t, root, nil, nil, func(o objectPlace) error {
		if err := visit(o); err != nil {
			return failed(p.stream, d, o.ref(t), t, o.node, err)
		}
		return nil
	})
	if err != nil {
		if placed := new(Error); !errors.As(err, &placed) {
			err = failed(p.stream, d, "", t, root, err)
		}
	}
	return err
}

// An objectPlace is an object of a document that matters.
type objectPlace struct {
	node       int32
	apiVersion []byte
	kindName   []byte
	kind       *workloadKind // nil for a config object
	item       bool          // of a list
}

// ref returns KIND/NAME, KIND alone where there is no name.
func (o objectPlace) ref(t *tree) string {
	return strings.TrimSuffix(string(o.kindName)+"/"+o.name(t), "/")
}

func (o objectPlace) name(t *tree) string {
	metadata := t.at(o.node, "metadata")
	if name := t.stringAt(metadata, "name"); name != "" {
		return name
	}
	if name := t.stringAt(metadata, "generateName"); name != "" {
		return name + "*"
	}
	return ""
}

// objects visits the workloads and config objects of a document, lists opened. An
// item of a typed list may leave its kind and version to the list.
func (k *kinds) objects(t *tree, n int32, apiVersion, kind []byte, visit func(objectPlace) error) error {
	if t.nodes[n].kind != mapping {
		return nil
	}
	item := n != root
	if v := t.bytesAt(n, "apiVersion"); len(v) > 0 {
		apiVersion = v
	}
	if v := t.bytesAt(n, "kind"); len(v) > 0 {
		kind = v
	}
	if !k.known(apiVersion, kind) {
		return nil
	}
	known := k.find(apiVersion, kind)
	if of, isList := bytes.CutSuffix(kind, []byte(listKind)); isList && known == nil {
		if len(of) == 0 {
			apiVersion = nil
		}
		items := t.at(n, "items")
		if items == 0 {
			return nil
		}
		if t.nodes[items].kind != sequence {
			return &typeError{items, "a list"}
		}
		for c := range t.children(items) {
			if err := k.objects(t, c, apiVersion, of, visit); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(objectPlace{n, apiVersion, kind, known, item})
}

// config takes a config object that is read as a whole.
func (p *planner) config(d document, t *tree, o objectPlace) error {
	c := &config{object: object{kind: string(o.kindName)}, doc: d}
	metadata, err := t.wantMap(o.node, "metadata")
	if err != nil {
		return err
	}
	if err := c.setMetadata(t, metadata); err != nil {
		return err
	}
	if o.item {
		c.list, c.node = t, o.node
		if t == p.scratch {
			p.scratch = p.newTree() // this one stays in use
		}
	}
	p.configs = append(p.configs, c)
	return nil
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
		base.Source = p.file()
		base.Consumes = []Consumption{}
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
				p.at.templates = append(p.at.templates, place.node)
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
