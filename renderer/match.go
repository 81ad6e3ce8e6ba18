package renderer

import (
	"cmp"
	"fmt"
	"slices"
)

// indexConfigs finds, of objects that the stream holds twice, the one that counts:
// one that is no hook beats one that is, then the last one wins.
func (p *planner) indexConfigs() {
	p.byName = make(map[object]*config, len(p.configs))
	for _, c := range p.configs {
		if c.name == "" {
			continue // it gets one of its own (generateName), so it is never another one
		}
		name := object{c.kind, p.effective(c.namespace), c.name}
		before := p.byName[name]
		if before == nil {
			p.byName[name] = c
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

// inAnyNamespace returns the config objects of a kind and name, the one that counts of
// each namespace.
func (p *planner) inAnyNamespace(kind, name string) []*config {
	if p.namesakes == nil {
		p.namesakes = make(map[object][]*config, len(p.configs))
		for _, c := range p.configs {
			if !c.replaced {
				all := object{c.kind, "", c.name}
				p.namesakes[all] = append(p.namesakes[all], c)
			}
		}
	}
	return p.namesakes[object{kind, "", name}]
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
	switch fits := p.inAnyNamespace(c.kind, c.name); len(fits) {
	case 0:
		return nil, External
	case 1:
		return fits[0], Stamped
	}
	return nil, Ambiguous
}

// A matched is a consumption and what was found for it.
type matched struct {
	consumed
	read           []string // the keys; see keyList
	config         *config  // nil if there is none in the stream
	effective      string   // the object's namespace; empty if unknown
	otherNamespace string   // as in AnnotationKey
	status         Status
	annotation     string
	checksum       string
}

// match finds for every reference of a workload its object, its status and its checksum,
// and so the stamps that the workload is to have.
func (p *planner) match(w *workload) {
	p.merge(w)
	lines := w.refs.list
	slices.SortFunc(lines, func(a, b matched) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
	})
	for i := range lines {
		m := &lines[i]
		if err := p.settle(w, m); err != nil {
			p.fail(err)
			continue
		}
		switch m.status {
		case Stamped:
			w.due[m.annotation] = m.checksum
			w.Stamped = true
		case External, Ambiguous:
			if len(w.Found) == 0 {
				break
			}
			key := AnnotationKey(m.kind, m.name, m.otherNamespace)
			if v, ok := w.Found[key]; ok {
				w.keep(key, v) // another run may have known the object
			}
		}
	}
	for key, checksum := range w.kept {
		if _, ok := w.due[key]; !ok {
			w.due[key] = checksum
		}
	}
	if !w.Stamped {
		w.Note = ""
		if w.Reason == "" {
			w.Reason = noneToTake
			if len(lines) == 0 {
				w.Reason = nothing
			}
		}
	}
	if p.report != nil {
		p.report.sources = append(p.report.sources, w.consumptions())
	}
}

// keep has a stamp stay as it was found.
func (w *workload) keep(key, checksum string) {
	if w.kept == nil {
		w.kept = make(map[string]string)
	}
	w.kept[key] = checksum
}

// consumptions puts what was matched into the report's form, and returns the object of
// each.
func (w *workload) consumptions() []*config {
	sources := make([]*config, len(w.refs.list))
	w.Consumes = make([]Consumption, len(w.refs.list))
	for i := range w.refs.list {
		m := &w.refs.list[i]
		sources[i] = m.config
		w.Consumes[i] = Consumption{
			Kind:       m.kind,
			Namespace:  m.effective,
			Name:       m.name,
			Keys:       slices.Clone(m.read),
			Optional:   m.optional,
			Via:        slices.Clone(m.via),
			Status:     m.status,
			Annotation: m.annotation,
			Checksum:   m.checksum,
		}
	}
	return sources
}

// fail takes an error about a consumption. What several workloads consume fails once.
func (p *planner) fail(err error) {
	if p.failed[err] {
		return
	}
	if p.failed == nil {
		p.failed = make(map[error]bool)
	}
	p.failed[err] = true
	p.failures = append(p.failures, err)
}

// merge matches a workload's references, and makes one of those that turn out to
// be one object, named with and without its namespace.
func (p *planner) merge(w *workload) {
	lines := w.refs.list
	n := 0 // lines that stay
	p.seen.reset()
	byConfig := p.lineOf[:0] // the line of each
	var ignore *patterns
	if len(w.controls.ignore) > 0 {
		ignore = newPatterns(w.controls.ignore)
	}
	for i := range lines {
		m := &lines[i]
		m.otherNamespace, m.status = m.namespace, Ignored
		if !p.ignores(w, ignore, &m.consumed) {
			m.config, m.status = p.find(w, &m.consumed)
		}
		if m.config != nil {
			if known, ok := p.seen.number(m.config); ok {
				line := &lines[byConfig[known]]
				// A pod can name only objects of its own namespace, so it is no other one.
				if m.namespace == "" {
					line.otherNamespace = ""
				}
				line.merge(m.consumed)
				continue
			}
			byConfig = append(byConfig, n)
		}
		lines[n], lines[i] = lines[i], lines[n] // both keep memory of their own
		n++
	}
	w.refs.list, p.lineOf = lines[:n], byConfig
	for i := range w.refs.list {
		m := &w.refs.list[i]
		m.read = m.keyList()
	}
}

// settle finds what is to become of a consumption.
func (p *planner) settle(w *workload, m *matched) error {
	m.effective = p.effective(cmp.Or(m.namespace, w.own))
	if m.status == External {
		if p.options.Strict && !m.optional {
			return p.failedWorkload(w, fmt.Errorf("%s/%s is not in the stream (%s)", m.kind, m.name, m.via[0]))
		}
		if err := p.unreadable[m.kind]; err != nil {
			return err // it may be the one
		}
	}
	c := m.config
	if c == nil {
		return nil
	}
	if ns := p.effective(c.namespace); ns != "" {
		m.effective = ns
	}
	c.consumers++
	if c.controlErr != nil {
		if _, placed := c.controlErr.(*Error); !placed {
			c.controlErr = &Error{Document: c.doc.number, Source: c.doc.source(p.stream), Line: p.lines.at(max(c.controlAt, c.doc.body)), Object: c.String(), Err: c.controlErr}
		}
		return c.controlErr
	}
	switch {
	case c.skip, p.skips(c.kind, c.name):
		m.status = Skipped
	case w.Reason != "":
		m.status = NotStamped
	default:
		var err error
		m.annotation = c.stamp(m.otherNamespace)
		m.checksum, err = p.checksum(c, m.read)
		return err
	}
	return nil
}

func (p *planner) failedWorkload(w *workload, err error) error {
	return &Error{Document: p.at.number, Source: p.at.chartFile(p.stream), Line: p.lines.at(p.at.body), Object: w.String(), Err: err}
}

// readAgain is for how many lists of keys a config object is read anew, by the block
// reader. Few are usual, and what is kept may take more memory than the text.
const readAgain = 3

// checksum returns the checksum of a config object's keys. Its content is kept once it is
// asked for more than a few lists of keys, so that it is read a few times at most.
func (p *planner) checksum(c *config, keys []string) (string, error) {
	if c.contentErr != nil {
		return "", c.contentErr
	}
	n, known := c.wanted.number(joinKeys(keys))
	if known {
		return c.checksums[n], nil
	}
	content := c.content
	if content == nil {
		var slow bool
		var err error
		if p.content, slow, err = readConfig(p.content[:0], p.second, p.stream, c); err != nil {
			c.contentErr = err
			return "", err
		}
		content = p.content
		if n == 0 {
			p.out.Warnings = append(p.out.Warnings, content.warnings(c)...)
		}
		if n >= readAgain || n > 0 && slow {
			c.content = slices.Clone(content)
		}
	}
	sum := content.checksum(p.sum, c.kind, keys)
	c.checksums = append(c.checksums, sum)
	return sum, nil
}
