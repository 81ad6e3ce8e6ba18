package renderer

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Status says what becomes of one consumption.
type Status string

// The statuses of CONTRACT.md section 9.
const (
	Stamped    Status = "stamped"
	External   Status = "external"    // no such object in the stream
	Ignored    Status = "ignored"     // left out by a control or an option
	Skipped    Status = "skipped"     // the object is not to be stamped for
	Ambiguous  Status = "ambiguous"   // objects of that name in several namespaces fit
	NotStamped Status = "not-stamped" // the workload as a whole is not stamped
)

// A Plan says who consumes what in a stream, and what is to be stamped. Its
// exported fields are plain data, the report of CONTRACT.md section 9.
type Plan struct {
	Workloads []Workload `json:"workloads"` // in stream order, one per pod template
	Configs   []Config   `json:"configs"`   // in stream order
	Warnings  []string   `json:"warnings"`

	stream []byte
	edits  []Edit

	// sources holds, for each of Workloads and each of its Consumes, the object in
	// the stream; nil if there is none.
	sources [][]*config
}

// A Workload is one pod template of an object in the stream.
type Workload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"` // the effective one; empty if unknown
	Name       string `json:"name"`      // a generateName ends with *
	Source     string `json:"source"`    // the chart's file, when the stream says so
	Template   string `json:"template"`  // where the pod template is, such as spec.template
	Stamped    bool   `json:"stamped"`
	Reason     string `json:"reason"` // why it is not stamped
	Note       string `json:"note"`   // what its rollout waits for
	Restyled   bool   `json:"restyled"`

	Consumes []Consumption `json:"consumes"` // by kind, then name

	// Found holds the stamps that the pod template has in the stream, Stamps those
	// that it is to have: annotation to checksum.
	Found  map[string]string `json:"-"`
	Stamps map[string]string `json:"-"`
}

// String returns KIND/NAME, as messages name objects.
func (w *Workload) String() string { return w.Kind + "/" + w.Name }

// A Consumption is all that one pod template reads of one ConfigMap or Secret.
type Consumption struct {
	Kind       string   `json:"kind"` // ConfigMap or Secret
	Namespace  string   `json:"namespace"`
	Name       string   `json:"name"`
	Keys       []string `json:"keys"` // ascending; ["*"] for all
	Optional   bool     `json:"optional"`
	Via        []string `json:"via"` // such as containers[web].env[LOG_LEVEL]
	Status     Status   `json:"status"`
	Annotation string   `json:"annotation"` // the stamp's key; empty unless stamped
	Checksum   string   `json:"checksum"`   // the stamp's value; empty unless stamped
}

// A Config is a ConfigMap or Secret in the stream.
type Config struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Consumers int    `json:"consumers"` // pod templates that read it
}

// A planner makes one Plan.
type planner struct {
	*Renderer
	stream []byte
	plan   *Plan
	seed   maphash.Seed

	configs    []*config            // in stream order, with those that others replace
	byName     map[object]*config   // by kind, effective namespace and name
	namesakes  map[object][]*config // by kind and name; the first of each namespace
	unreadable map[string]error     // by kind: the first config object that can't be read
	workloads  []*workload
	documents  []*stampedDocument
	sum        *checksummer
	lines      lineIndex
	scratch    *tree  // for one document at a time
	after      []byte // likewise, for the document with its stamps
}

// A workload is one pod template on its way into the Plan.
type workload struct {
	Workload
	kind     *workloadKind
	doc      *stampedDocument
	own      string // the namespace as written
	controls controls
	refs     *references
	site     *site // nil until it is located
}

// A stampedDocument is a document that has pod templates.
type stampedDocument struct {
	document
	file          string // the chart's, when the stream names it
	byBlockReader bool
	print         uint64
	workloads     []*workload
}

// Plan finds out who consumes what in the stream, and which stamps follow. The
// stream must not change while the Plan is in use. Errors are of type *Error, or
// several of them joined.
func (r *Renderer) Plan(stream []byte) (*Plan, error) {
	if err := checkText(stream); err != nil {
		return nil, err
	}
	p := &planner{
		Renderer: r,
		stream:   stream,
		plan: &Plan{Workloads: []Workload{}, Configs: []Config{}, Warnings: []string{},
			stream: stream},
		seed: maphash.MakeSeed(),
		sum:  newChecksummer(r.options.HMACKey),

		unreadable: make(map[string]error),
		lines:      lineIndex{stream: stream},

		scratch: newTree(64),
	}
	s := splitter{stream: stream}
	for d, ok := s.next(); ok; d, ok = s.next() {
		if !r.kinds.matters(d, stream) {
			continue
		}
		if err := p.document(d); err != nil {
			return nil, err
		}
	}
	p.indexConfigs()
	if err := p.match(); err != nil {
		return nil, err
	}
	if err := p.edit(); err != nil {
		return nil, err
	}
	p.plan.Workloads = slices.Grow(p.plan.Workloads, len(p.workloads))
	for _, w := range p.workloads {
		p.plan.Workloads = append(p.plan.Workloads, w.Workload)
	}
	for _, c := range p.configs {
		if !c.replaced {
			p.plan.Configs = append(p.plan.Configs, Config{c.kind, p.effective(c.namespace), c.name, c.consumers})
		}
	}
	return p.plan, nil
}

func (p *planner) warn(format string, a ...any) {
	p.plan.Warnings = append(p.plan.Warnings, fmt.Sprintf(format, a...))
}

// failed puts the place to an error about a document.
func failed(stream []byte, d document, name string, t *tree, object int32, err error) error {
	e := &Error{Document: d.number, Source: d.source(stream), Object: name, Err: err}
	e.Line = lineAt(stream, d.body)
	at := func(n int32) {
		at := t.nodes[n].start
		if at < 0 {
			at = placeOf(stream, d, t, n)
		}
		if at >= 0 {
			e.Line = lineAt(stream, at)
		}
	}
	var line *lineError
	var typed *typeError
	var control *controlError
	switch {
	case errors.As(err, &line):
		// What is missing at the end is found missing past it.
		e.Line = min(e.Line+max(line.line, 1)-1, lineAt(stream, max(d.end-1, d.body)))
	case errors.As(err, &typed):
		e.Err = t.describe(object, typed)
		at(typed.node)
	case errors.As(err, &control):
		at(control.node)
	}
	return e
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

// document takes what one document holds: config objects and workloads.
func (p *planner) document(d document) error {
	certain := !d.top.odd && d.top.kinds == 1
	if kind := string(d.top.kind); certain && (kind == configMapKind || kind == secretKind) {
		if metadata, ok := readHead(p.scratch, p.stream, d); ok {
			c := &config{object: object{kind: kind}, doc: d}
			if err := c.setMetadata(metadata, root); err == nil {
				p.configs = append(p.configs, c)
				return nil
			}
		}
	}
	t, byBlockReader, err := readDocument(p.scratch, p.stream, d)
	if err != nil {
		kind := string(d.top.kind)
		if !certain || kind != configMapKind && kind != secretKind {
			return failed(p.stream, d, "", nil, 0, err)
		}
		// Nothing may consume it; match finds out.
		if p.unreadable[kind] == nil {
			p.unreadable[kind] = failed(p.stream, d, "", nil, 0, err)
		}
		return nil
	}
	sd := &stampedDocument{document: d, file: d.source(p.stream), byBlockReader: byBlockReader}
	var templates []int32
	err = p.kinds.objects(t, root, "", "", func(o objectPlace) error {
		var err error
		if o.kind == nil {
			err = p.config(d, t, o)
		} else {
			err = p.workload(sd, t, o, &templates)
		}
		if err != nil {
			return failed(p.stream, d, o.kindName+"/"+o.name(t), t, o.node, err)
		}
		return nil
	})
	if placed := new(Error); err != nil && !errors.As(err, &placed) {
		err = failed(p.stream, d, "", t, root, err)
	}
	if err != nil {
		return err
	}
	if len(sd.workloads) > 0 {
		sd.print = fingerprintOf(p.seed, t, templates)
		p.documents = append(p.documents, sd)
	}
	return nil
}

// An objectPlace is an object of a document that matters.
type objectPlace struct {
	node       int32
	apiVersion string
	kindName   string
	kind       *workloadKind // nil for a config object
	item       bool          // of a list
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
func (k *kinds) objects(t *tree, n int32, apiVersion, kind string, visit func(objectPlace) error) error {
	if t.nodes[n].kind != mapping {
		return nil
	}
	item := n != root
	if v := t.stringAt(n, "apiVersion"); v != "" {
		apiVersion = v
	}
	if v := t.stringAt(n, "kind"); v != "" {
		kind = v
	}
	if !k.known([]byte(apiVersion), []byte(kind)) {
		return nil
	}
	if kind == listKind || strings.HasSuffix(kind, listKind) && k.find(apiGroup(apiVersion), kind) == nil {
		of := strings.TrimSuffix(kind, listKind)
		if of == "" {
			apiVersion = ""
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
	return visit(objectPlace{n, apiVersion, kind, k.find(apiGroup(apiVersion), kind), item})
}

// effective returns the namespace that an object is in; empty if unknown.
func (p *planner) effective(written string) string { return cmp.Or(written, p.options.Namespace) }

// config takes a config object that is read as a whole.
func (p *planner) config(d document, t *tree, o objectPlace) error {
	c := &config{object: object{kind: o.kindName}, doc: d}
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
			p.scratch = newTree(64) // this one stays in use
		}
	}
	p.configs = append(p.configs, c)
	return nil
}

// workload takes an object with pod templates.
func (p *planner) workload(sd *stampedDocument, t *tree, o objectPlace, templates *[]int32) error {
	metadata, err := t.wantMap(o.node, "metadata")
	if err != nil {
		return err
	}
	own, err := t.wantString(metadata, "namespace")
	if err != nil {
		return err
	}
	base := workload{
		Workload: Workload{
			APIVersion: o.apiVersion,
			Kind:       o.kindName,
			Namespace:  p.effective(own),
			Name:       o.name(t),
			Source:     sd.file,
			Consumes:   []Consumption{},
			Note:       o.kind.note(t, o.node),
		},
		kind: o.kind,
		doc:  sd,
		own:  own,
		refs: &references{},
	}
	if err := base.controls.read(t, metadata, workloadControls); err != nil {
		return err
	}
	before := len(sd.workloads)
	for _, path := range o.kind.paths {
		err := t.templates(o.node, path, func(template int32, path string) error {
			w := base
			w.Template = path
			w.controls.ignore = slices.Clone(base.controls.ignore)
			w.controls.consumes = slices.Clone(base.controls.consumes)
			if path != "" {
				if err := w.controls.read(t, t.at(template, "metadata"), workloadControls); err != nil {
					return err
				}
				if err := checkAnnotations(t, template); err != nil {
					return err
				}
				w.Found = stampsOn(t, template)
				*templates = append(*templates, template)
			}
			if sd.byBlockReader && path != "" {
				w.site = locate(p.stream, t, template, t, template)
			}
			w.Reason = p.reason(&w, t, o.node, template)
			var err error
			if w.refs, err = podReferences(t, template); err != nil {
				return err
			}
			for _, c := range w.controls.consumes {
				w.refs.add(c, false, "metadata.annotations["+consumesControl+"]")
			}
			sd.workloads = append(sd.workloads, &w)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(sd.workloads) == before {
		base.Template = o.kind.paths[0]
		base.Reason = noTemplate
		if t.at(o.node, "spec", "workloadRef") != 0 {
			base.Reason = elsewhere
		}
		sd.workloads = append(sd.workloads, &base)
	}
	p.workloads = append(p.workloads, sd.workloads[before:]...)
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
		if t.stampValue(a) != want {
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

// indexConfigs finds, of objects that the stream holds twice, the one that counts:
// one that is no hook beats one that is, then the last one wins.
func (p *planner) indexConfigs() {
	p.byName = make(map[object]*config, len(p.configs))
	p.namesakes = make(map[object][]*config, len(p.configs))
	for _, c := range p.configs {
		name := object{c.kind, p.effective(c.namespace), c.name}
		before := p.byName[name]
		if before == nil {
			p.byName[name] = c
			all := object{c.kind, "", c.name}
			p.namesakes[all] = append(p.namesakes[all], c)
			continue
		}
		winner, loser := c, before
		if c.hook && !before.hook {
			winner, loser = before, c
		}
		p.byName[name] = winner
		loser.replaced = true
		p.warn("%s is in the stream twice: document %d counts, document %d does not", c, winner.doc.number, loser.doc.number)
	}
}

// find returns the config object that a workload's reference matches.
func (p *planner) find(w *workload, c *consumed) (*config, Status) {
	want := object{c.kind, p.effective(cmp.Or(c.namespace, w.own)), c.name}
	if f := p.byName[want]; f != nil {
		return f, Stamped
	}
	if p.options.Namespace != "" {
		return nil, External
	}
	// An absent namespace may be any one.
	all := object{c.kind, "", c.name}
	if want.namespace != "" {
		if f := p.byName[all]; f != nil {
			return f, Stamped
		}
		return nil, External
	}
	switch fits := p.namesakes[all]; len(fits) {
	case 0:
		return nil, External
	case 1:
		f := fits[0]
		return p.byName[object{f.kind, f.namespace, f.name}], Stamped
	}
	return nil, Ambiguous
}

// match finds for every consumption its object, its status and its checksum.
func (p *planner) match() error {
	var errs []error
	p.plan.sources = make([][]*config, 0, len(p.workloads))
	all := make([][]matched, len(p.workloads))
	for i, w := range p.workloads {
		all[i] = p.merge(w)
	}
	for i, w := range p.workloads {
		lines := all[i]
		all[i] = nil
		slices.SortFunc(lines, func(a, b matched) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
		})
		sources := make([]*config, len(lines))
		for i := range lines {
			m := &lines[i]
			line, err := p.consumption(w, m)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			key := AnnotationKey(m.kind, m.name, m.otherNamespace)
			switch line.Status {
			case Stamped:
				line.Annotation = key
				w.keep(key, line.Checksum)
				w.Stamped = true
			case External, Ambiguous:
				if v, ok := w.Found[key]; ok {
					w.keep(key, v) // another run may have known the object
				}
			}
			sources[i] = m.config
			if i == 0 {
				w.Consumes = make([]Consumption, 0, len(lines))
			}
			w.Consumes = append(w.Consumes, line)
		}
		if !w.Stamped && w.Reason == "" {
			w.Reason = noneToTake
			if len(lines) == 0 {
				w.Reason = nothing
			}
		}
		if !w.Stamped {
			w.Note = ""
		}
		p.plan.sources = append(p.plan.sources, sources)
	}
	return errors.Join(errs...)
}

// keep has the pod template have a stamp.
func (w *workload) keep(key, checksum string) {
	if w.Stamps == nil {
		w.Stamps = make(map[string]string)
	}
	w.Stamps[key] = checksum
}

// A matched is a consumption and the object that it was matched with, if any.
type matched struct {
	consumed
	read           []string // the keys; see keyList
	config         *config
	status         Status
	otherNamespace string // as in AnnotationKey
}

// merge matches a workload's references, and makes one of those that turn out to
// be one object, named with and without its namespace.
func (p *planner) merge(w *workload) []matched {
	lines := make([]matched, 0, len(w.refs.list))
	var seen index[*config]
	var byConfig []int // the line of each
	var ignore *patterns
	if len(w.controls.ignore) > 0 {
		ignore = newPatterns(w.controls.ignore)
	}
	for _, c := range w.refs.list {
		m := matched{consumed: c, otherNamespace: c.namespace, status: Ignored}
		if !p.ignores(w, ignore, &c) {
			m.config, m.status = p.find(w, &c)
		}
		if m.config != nil {
			if n, known := seen.number(m.config); known {
				i := byConfig[n]
				// A pod can name only objects of its own namespace, so it is no other one.
				if c.namespace == "" {
					lines[i].otherNamespace = ""
				}
				lines[i].merge(c)
				continue
			}
			byConfig = append(byConfig, len(lines))
		}
		lines = append(lines, m)
	}
	for i := range lines {
		m := &lines[i]
		m.read = m.keyList()
		if m.config != nil && w.Reason == "" {
			m.config.wanted = append(m.config.wanted, m.read)
		}
	}
	return lines
}

// consumption makes the report's line.
func (p *planner) consumption(w *workload, m *matched) (Consumption, error) {
	line := Consumption{
		Kind:      m.kind,
		Namespace: p.effective(cmp.Or(m.namespace, w.own)),
		Name:      m.name,
		Keys:      m.read,
		Optional:  m.optional,
		Via:       m.via,
		Status:    m.status,
	}
	if m.status == External && p.options.Strict && !m.optional {
		return line, p.failedWorkload(w, fmt.Errorf("%s/%s is not in the stream (%s)", m.kind, m.name, m.via[0]))
	}
	if m.status == External {
		if err := p.unreadable[m.kind]; err != nil {
			return line, err // it may be the one
		}
	}
	c := m.config
	if c == nil {
		return line, nil
	}
	if ns := p.effective(c.namespace); ns != "" {
		line.Namespace = ns
	}
	c.consumers++
	if c.controlErr != nil {
		if _, placed := c.controlErr.(*Error); !placed {
			c.controlErr = &Error{Document: c.doc.number, Source: c.doc.source(p.stream), Line: p.lines.at(max(c.controlAt, c.doc.body)), Object: c.String(), Err: c.controlErr}
		}
		return line, c.controlErr
	}
	switch {
	case c.skip, p.skips(c.kind, c.name):
		line.Status = Skipped
	case w.Reason != "":
		line.Status = NotStamped
	default:
		var err error
		line.Checksum, err = p.checksum(c, line.Keys)
		return line, err
	}
	return line, nil
}

func (p *planner) failedWorkload(w *workload, err error) error {
	return &Error{Document: w.doc.number, Source: w.Source, Line: p.lines.at(w.doc.body), Object: w.String(), Err: err}
}

// checksum returns the checksum of a config object's keys. The object is read once,
// for all that is wanted of it.
func (p *planner) checksum(c *config, keys []string) (string, error) {
	if c.checksums == nil {
		if c.contentErr != nil {
			return "", c.contentErr
		}
		content, err := readConfig(p.scratch, p.stream, c)
		if err != nil {
			c.contentErr = err
			return "", err
		}
		p.plan.Warnings = append(p.plan.Warnings, content.warnings(c.String())...)
		c.checksums = make(map[string]string, len(c.wanted))
		for _, keys := range c.wanted {
			id := joinKeys(keys)
			if _, known := c.checksums[id]; !known {
				c.checksums[id] = content.checksum(p.sum, c.kind, keys)
			}
		}
		c.wanted = nil
	}
	return c.checksums[joinKeys(keys)], nil
}
