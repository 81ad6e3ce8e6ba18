package renderer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// appendEdits appends a text from an offset on, with edits made, to b.
func appendEdits(b, text []byte, from int, edits []Edit) []byte {
	for _, e := range edits {
		b = append(b, text[from:e.Start]...)
		b = append(b, e.Text...)
		from = e.End
	}
	return append(b, text[from:]...)
}

// WriteTo writes the stream with its stamps, in pieces: a writer for which a call
// costs should be buffered. The pieces stay as they are for as long as the stream does.
// The error is the writer's.
func (s *StampedStream) WriteTo(w io.Writer) (written int64, err error) {
	put := func(n int, e error) {
		written += int64(n)
		err = e
	}
	from := 0
	for _, e := range s.edits {
		if put(w.Write(s.stream[from:e.Start])); err == nil {
			put(io.WriteString(w, e.Text))
		}
		if err != nil {
			return written, err
		}
		from = e.End
	}
	if from < len(s.stream) {
		put(w.Write(s.stream[from:]))
	}
	return written, err
}

// Changed says whether WriteTo would write anything but the stream as it came.
func (s *StampedStream) Changed() bool { return len(s.edits) > 0 }

// edit computes the edits of a document and checks them.
func (p *planner) edit(d *workloadDocument) error {
	if !d.changes() {
		return nil
	}
	edits, err := p.editDocument(d)
	p.out.edits = append(p.out.edits, edits...)
	return err
}

// changes says whether the stamps that a pod template has are not those it is to have.
func (w *workload) changes() bool {
	if len(w.Found) == 0 {
		return w.Stamped
	}
	return w.Template != "" && !maps.Equal(w.Found, w.due)
}

// changes says whether that holds for one of the pod templates.
func (d *workloadDocument) changes() bool {
	for i := range d.workloads {
		if d.workloads[i].changes() {
			return true
		}
	}
	return false
}

// editDocument returns the edits of one document: stamps in place if that does what
// it should, else the document written anew from what it means.
func (p *planner) editDocument(d *workloadDocument) ([]Edit, error) {
	if edits, ok := p.editInPlace(d); ok && p.check(d, edits, d.byBlockReader) {
		return edits, nil
	}
	for _, restyle := range []func(*workloadDocument) (Edit, error){p.restyleYAML, p.restyleJSON} {
		e, err := restyle(d)
		if err == nil && p.check(d, []Edit{e}, false) {
			for i := range d.workloads {
				w := &d.workloads[i]
				w.Restyled = w.changes()
			}
			return []Edit{e}, nil
		}
	}
	return nil, failed(p.stream, d.document, "", nil, 0, errors.New("its stamps can't be written without changing more than them"))
}

// editInPlace collects the edits of a document's pod templates.
func (p *planner) editInPlace(d *workloadDocument) ([]Edit, bool) {
	if !d.byBlockReader && !p.locateByLibrary(d) {
		return nil, false
	}
	edits := p.edits[:0]
	for i := range d.workloads {
		w := &d.workloads[i]
		if !w.changes() {
			continue
		}
		if !w.located {
			return nil, false
		}
		var ok bool
		if edits, ok = w.site.edits(edits, p.stream, &p.names, w.Found, w.due); !ok {
			return nil, false
		}
	}
	p.edits = edits
	sortEdits(edits)
	for i := 1; i < len(edits); i++ {
		if edits[i].Start < edits[i-1].End {
			return nil, false // two templates that are written in one place
		}
	}
	return edits, true
}

// locateByLibrary finds the sites of a document that the block reader left to the library.
func (p *planner) locateByLibrary(d *workloadDocument) bool {
	values, err := readValues(p.stream[d.body:d.end])
	if err != nil {
		return false
	}
	places, err := readPlaces(p.stream, d.body, d.end)
	if err != nil {
		return false
	}
	templates := p.templatesOf(values)
	placed := follow(values, templates, places)
	for i, template := range templates {
		if w := &d.workloads[i]; template != 0 && w.changes() {
			w.located = w.site.locate(p.stream, places, placed[template], values, template)
		}
	}
	return true
}

// templatesOf returns the pod templates of a document, in the order of its
// workloads; 0 for a workload without one. The next call uses the memory again.
func (p *planner) templatesOf(t *tree) []int32 {
	all := p.templates[:0]
	_ = p.kinds.objects(t, root, nil, nil, func(o objectPlace) error { // it was read before without error
		if o.kind == nil {
			return nil
		}
		before := len(all)
		for _, path := range o.kind.paths {
			p.places, _ = t.templates(p.places[:0], o.node, path)
			for _, place := range p.places {
				if place.path == "" {
					place.node = 0
				}
				all = append(all, place.node)
			}
		}
		if len(all) == before {
			all = append(all, 0)
		}
		return nil
	})
	p.templates = all
	return all
}

// check makes the edits and reads the document again: it must mean what it meant,
// and have the stamps that it is to have. The block reader sees entries in the order
// of the text, so it serves only where that stays, and where it read the input too.
func (p *planner) check(d *workloadDocument, edits []Edit, byBlockReader bool) bool {
	p.after = appendEdits(p.after[:0], p.stream[:d.end], d.body, edits)
	before := d.tree
	var after *tree
	ok := false
	if byBlockReader {
		after, ok = readBlock(p.second, p.after, 0, len(p.after))
	}
	if !ok {
		var err error
		if after, err = readValues(p.after); err != nil {
			return false
		}
		if d.byBlockReader {
			// The two readers order keys differently: hold like against like.
			if before, err = readValues(p.stream[d.body:d.end]); err != nil {
				return false
			}
			before.mark(p.templatesOf(before))
		}
	}
	stamped := p.templatesOf(after)
	if len(stamped) != len(d.workloads) {
		return false
	}
	for i := range d.workloads {
		if stamped[i] != 0 && !hasStamps(after, stamped[i], d.workloads[i].due) {
			return false
		}
	}
	return same(before, after)
}

// restyleYAML writes a document anew, as YAML or, if it was JSON, as JSON.
func (p *planner) restyleYAML(d *workloadDocument) (Edit, error) {
	return p.restyle(d, func(text, j []byte) ([]byte, error) {
		if json.Valid(text) {
			return j, nil
		}
		return yaml.JSONToYAML(j)
	})
}

// restyleJSON writes a document anew as JSON, which is YAML too.
func (p *planner) restyleJSON(d *workloadDocument) (Edit, error) {
	return p.restyle(d, func(_, j []byte) ([]byte, error) { return j, nil })
}

func (p *planner) restyle(d *workloadDocument, write func(text, j []byte) ([]byte, error)) (Edit, error) {
	text := p.stream[d.body:d.end]
	t, err := readValues(text)
	if err != nil {
		return Edit{}, err
	}
	templates := p.templatesOf(t)
	for i := range d.workloads {
		if templates[i] != 0 {
			t.setStamps(templates[i], d.workloads[i].due)
		}
	}
	var compact bytes.Buffer
	t.writeJSON(&compact, root)
	compact.WriteByte('\n')
	body := compact.Bytes()
	if !t.deeper(root, maxIndented) {
		var j bytes.Buffer
		if err := json.Indent(&j, body, "", "  "); err != nil {
			return Edit{}, err
		}
		if body, err = write(bytes.TrimSpace(text), j.Bytes()); err != nil {
			return Edit{}, err
		}
	}
	if i := bytes.IndexByte(p.stream[d.body:d.end], '\n'); i > 0 && p.stream[d.body+i-1] == '\r' {
		body = bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	}
	from, to := d.body, d.end
	prefix := ""
	switch before := p.stream[:from]; {
	case marker(p.stream[from:to]) == separator: // "--- {a: b}"
		prefix = "---\n"
	case bytes.HasSuffix(before, []byte("---")): // "---kind: X"
		prefix = "\n"
	}
	// The comments before the first line stay, and the "..." behind the last.
	for from < to {
		end := to
		if i := bytes.IndexByte(p.stream[from:to], '\n'); i >= 0 {
			end = from + i + 1
		}
		if line := bytes.TrimSpace(p.stream[from:end]); len(line) > 0 && line[0] != '#' {
			break
		}
		from = end
	}
	if i := bytes.LastIndex(p.stream[from:to], []byte("\n...")); i >= 0 && marker(p.stream[from+i+1:to]) == documentEnd {
		to = from + i + 1
	}
	return Edit{from, to, prefix + string(body)}, nil
}

// maxIndented is how deep a document is at most that is written with indentation,
// which takes room in proportion to the depth's square.
const maxIndented = 100

// deeper says whether a node holds collections in one another to more than a depth.
func (t *tree) deeper(n int32, depth int) bool {
	for c := range t.children(n) {
		if depth == 0 || t.deeper(c, depth-1) {
			return true
		}
	}
	return false
}

// setStamps makes a pod template of a tree of values have exactly these stamps.
func (t *tree) setStamps(template int32, stamps map[string]string) {
	mapAt := func(n int32, key string) int32 {
		c := t.get(n, key)
		if c == 0 {
			c = t.add(n, []byte(key), -1)
		}
		if t.nodes[c].kind != mapping {
			t.nodes[c].kind, t.nodes[c].text = mapping, nil
		}
		return c
	}
	annotations := mapAt(mapAt(template, "metadata"), "annotations")
	keep := t.nodes[annotations].first
	t.nodes[annotations].first, t.nodes[annotations].last = 0, 0
	missing := maps.Clone(stamps)
	for c := keep; c != 0; {
		next := t.nodes[c].next
		want, wanted := stamps[string(t.nodes[c].key)]
		if !isStamp(t.nodes[c].key) || wanted && t.stampValue(c) == want {
			delete(missing, string(t.nodes[c].key))
			t.nodes[c].next = 0
			t.link(annotations, c)
		}
		c = next
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		c := t.add(annotations, []byte(key), -1)
		t.nodes[c].setText([]byte(stamps[key]), quoted)
	}
}

// writeJSON writes a tree of values as JSON.
func (t *tree) writeJSON(b *bytes.Buffer, n int32) {
	d := &t.nodes[n]
	switch d.kind {
	case null:
		b.WriteString("null")
	case text:
		b.WriteString(quote(string(t.textOf(n))))
	case mapping, sequence:
		open, closing := byte('['), byte(']')
		if d.kind == mapping {
			open, closing = '{', '}'
		}
		b.WriteByte(open)
		for c := range t.children(n) {
			if c != d.first {
				b.WriteByte(',')
			}
			if d.kind == mapping {
				b.WriteString(quote(string(t.nodes[c].key)))
				b.WriteByte(':')
			}
			t.writeJSON(b, c)
		}
		b.WriteByte(closing)
	default:
		b.Write(d.text)
	}
}
