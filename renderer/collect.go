package renderer

import (
	"bytes"
	"errors"
	"strings"
)

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
	} else if seen.top.certain() && p.kinds.find(seen.top.apiVersion, seen.top.kind) != nil && usualBreaks(p.stream[d.body:d.end]) {
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
	if workloads {
		p.documents = append(p.documents, d)
	}
	return err
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
		if p.list == nil || p.list.tree != t {
			p.list = &configList{tree: t}
			if t == p.scratch {
				p.scratch = p.newTree() // this one stays in use
			}
		}
		p.list.items = append(p.list.items, o.node)
		c.list, c.node = p.list, o.node
	}
	p.configs = append(p.configs, c)
	return nil
}
