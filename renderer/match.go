package renderer

import (
	"cmp"
	"errors"
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

// match finds for every consumption its object, its status and its checksum.
func (p *planner) match() error {
	var errs []error
	reported := make(map[error]bool) // what several workloads consume fails once
	p.plan.sources = make([][]*config, 0, len(p.workloads))
	for _, w := range p.workloads {
		p.merge(w)
	}
	for _, w := range p.workloads {
		lines := w.refs
		slices.SortFunc(lines, func(a, b matched) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.namespace, b.namespace))
		})
		sources := make([]*config, len(lines))
		for i := range lines {
			m := &lines[i]
			line, err := p.consumption(w, m)
			if err != nil {
				if !reported[err] {
					reported[err] = true
					errs = append(errs, err)
				}
				continue
			}
			key := AnnotationKey(m.kind, m.name, m.otherNamespace)
			switch line.Status {
			case Stamped:
				line.Annotation = key
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
		w.refs = nil
	}
	return errors.Join(errs...)
}

// keep has a stamp stay as it was found.
func (w *workload) keep(key, checksum string) {
	if w.kept == nil {
		w.kept = make(map[string]string)
	}
	w.kept[key] = checksum
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
func (p *planner) merge(w *workload) {
	lines := w.refs[:0]
	p.seen.reset()
	byConfig := p.lineOf[:0] // the line of each
	var ignore *patterns
	if len(w.controls.ignore) > 0 {
		ignore = newPatterns(w.controls.ignore)
	}
	for _, m := range w.refs {
		m.otherNamespace, m.status = m.namespace, Ignored
		if !p.ignores(w, ignore, &m.consumed) {
			m.config, m.status = p.find(w, &m.consumed)
		}
		if m.config != nil {
			if n, known := p.seen.number(m.config); known {
				i := byConfig[n]
				// A pod can name only objects of its own namespace, so it is no other one.
				if m.namespace == "" {
					lines[i].otherNamespace = ""
				}
				lines[i].merge(m.consumed)
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
			m.config.want(m.read)
		}
	}
	w.refs, p.lineOf = lines, byConfig
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
		c.checksums = make([]string, len(c.wantedKeys))
		for i, keys := range c.wantedKeys {
			c.checksums[i] = content.checksum(p.sum, c.kind, keys)
		}
		c.wantedKeys = nil
	}
	i, _ := c.wanted.number(joinKeys(keys))
	return c.checksums[i], nil
}
