// Package helmrelease edits HelmReleases, and kustomizations, that people wrote: it
// changes what it is asked to change and keeps every other byte of a file, comments,
// quoting, indentation and line ends included.
//
// Changes are computed as edits from the positions that the YAML parser gives, applied
// once, and then checked: what a file means afterwards must be what it meant before,
// with the change and nothing else. Where that can't be had, there is an error and no output.
package helmrelease

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/renderer"
)

const group = "helm.toolkit.fluxcd.io/"

// A File is a text with HelmReleases among its documents.
type File struct {
	src      []byte
	docs     []*document
	releases []*Release
}

// A Release is a HelmRelease in a File.
type Release struct {
	Namespace, Name string

	// Line is the first line of its document with content (counted from 1), Index its
	// place in a List, else -1.
	Line, Index int

	doc   *document
	node  *yaml.Node // the HelmRelease's mapping; nil where it is not one
	path  []any      // from the document's value to the HelmRelease's
	value map[string]any
}

// Parse reads a file. Documents that don't mention HelmReleases are not looked at.
func Parse(src []byte) (*File, error) {
	docs, err := parse(src, "HelmRelease")
	if err != nil {
		return nil, err
	}
	f := &File{src: src, docs: docs}
	for _, d := range docs {
		f.find(d, d.root, d.value, nil)
	}
	return f, nil
}

// find adds the HelmReleases of a document's value, those in lists too.
func (f *File) find(d *document, node *yaml.Node, value any, path []any) {
	m, ok := value.(map[string]any)
	if !ok {
		return
	}
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	if strings.HasPrefix(apiVersion, group) && kind == "HelmRelease" {
		r := &Release{doc: d, node: node, path: path, value: m, Line: d.line, Index: -1}
		if len(path) > 0 {
			r.Index = path[len(path)-1].(int)
		}
		r.Namespace, _ = dig(m, "metadata", "namespace").(string)
		r.Name, _ = dig(m, "metadata", "name").(string)
		f.releases = append(f.releases, r)
		return
	}
	items, ok := m["items"].([]any)
	if !ok || !strings.HasSuffix(kind, "List") {
		return
	}
	nodes, _ := child(node, "items")
	for i, item := range items {
		var n *yaml.Node
		if nodes != nil && nodes.Kind == yaml.SequenceNode && i < len(nodes.Content) {
			n = nodes.Content[i]
		}
		f.find(d, n, item, append(slices.Clip(path), "items", i))
	}
}

// Releases are the file's HelmReleases in the order of the text.
func (f *File) Releases() []*Release { return f.releases }

// PostRenderers is the parsed spec.postRenderers, as written in the file.
func (r *Release) PostRenderers() []any {
	list, _ := dig(r.value, "spec", "postRenderers").([]any)
	return list
}

// Entries are the parsed entries of ours among the release's post-renderers.
func (r *Release) Entries() []any {
	var ours []any
	for _, e := range r.PostRenderers() {
		if IsOurs(e) {
			ours = append(ours, e)
		}
	}
	return ours
}

// Current says whether the release has exactly this entry, once and last.
func (r *Release) Current(e Entry) bool { return Current(r.PostRenderers(), e) }

// Current says whether a parsed spec.postRenderers has exactly this entry of ours, once
// and last, or, for an empty one, none.
func Current(postRenderers []any, e Entry) bool {
	var ours []int
	for i, p := range postRenderers {
		if IsOurs(p) {
			ours = append(ours, i)
		}
	}
	if e.Empty() {
		return len(ours) == 0
	}
	return len(ours) == 1 && ours[0] == len(postRenderers)-1 &&
		reflect.DeepEqual(normal(postRenderers[ours[0]]), normal(e.Value()))
}

// Set makes e the last of the release's post-renderers, in place of all entries of
// ours that it has; an empty one takes them out. It may be called once for a release.
func (r *Release) Set(e Entry) error {
	if r.Current(e) {
		return nil
	}
	spec, _ := child(r.node, "spec")
	change := listChange{mapping: spec, key: "postRenderers", have: r.PostRenderers(), comment: Comment}
	for i, p := range change.have {
		if IsOurs(p) {
			change.drop = append(change.drop, i)
		}
	}
	if !e.Empty() {
		change.lines, change.flow, change.added = e.lines(), e.flow(), []any{e.Value()}
	}
	if err := r.doc.edit(change); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	r.doc.changes = append(r.doc.changes, change.meaning(append(slices.Clip(r.path), "spec")))
	return nil
}

// meaning is what the change does to the parsed document in which the mapping is at path.
func (c listChange) meaning(path []any) func(any) any {
	return func(v any) any {
		at := v
		for _, p := range path {
			switch p := p.(type) {
			case string:
				at = dig(at, p)
			case int:
				at = at.([]any)[p]
			}
		}
		list := c
		list.have, _ = dig(at, c.key).([]any)
		want := append(list.keep(), c.added...)
		if len(want) == 0 {
			return with(v, path, c.key, nil)
		}
		return with(v, path, c.key, want)
	}
}

// expected is what a text must mean after the edits that meant value before.
func (d *document) expected(value any) any {
	for _, change := range d.changes {
		value = change(value)
	}
	return value
}

// accept says whether the document may now mean value. Where the file ended without a
// line break, what stands before our text has got one: the same text with a line break at
// its end is as good then.
func (d *document) accept(value any) bool {
	if reflect.DeepEqual(value, d.expected(d.value)) {
		return true
	}
	if bytes.HasSuffix(d.text.src, []byte("\n")) {
		return false
	}
	var ended any
	err := k8syaml.Unmarshal(append(bytes.Clone(d.text.src), '\n'), &ended)
	return err == nil && reflect.DeepEqual(value, d.expected(ended))
}

// with is a copy of v, as deep as need be, in which the map at path has key set to
// value, or not at all if value is nil.
func with(v any, path []any, key string, value any) any {
	if len(path) == 0 {
		m, _ := v.(map[string]any)
		m = maps.Clone(m)
		if value == nil {
			delete(m, key)
		} else {
			m[key] = value
		}
		return m
	}
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		k := path[0].(string)
		v[k] = with(v[k], path[1:], key, value)
		return v
	case []any:
		v = slices.Clone(v)
		i := path[0].(int)
		v[i] = with(v[i], path[1:], key, value)
		return v
	}
	return v
}

// Bytes is the file with its changes, checked. Without changes it is the file as it was.
func (f *File) Bytes() ([]byte, error) { return rewrite(f.src, f.docs) }

// rewrite applies the documents' edits to the file and checks what came out.
func rewrite(src []byte, docs []*document) ([]byte, error) {
	var edits []renderer.Edit
	for _, d := range docs {
		for _, e := range d.edits {
			e.Start += d.offset
			e.End += d.offset
			edits = append(edits, e)
		}
	}
	if len(edits) == 0 {
		return src, nil
	}
	out, err := renderer.ApplyEdits(src, edits)
	if err != nil {
		return nil, err
	}
	before, after := renderer.Documents(src), renderer.Documents(out)
	if len(before) != len(after) {
		return nil, fmt.Errorf("the change would break the file into other documents")
	}
	for _, d := range docs {
		if len(d.edits) == 0 {
			continue
		}
		var value any
		now := after[d.number-1]
		if err := k8syaml.Unmarshal(out[now.Start:now.End], &value); err != nil {
			return nil, fmt.Errorf("document %d: after the change it would not be YAML any more: %w", d.number, err)
		}
		if !d.accept(value) {
			return nil, fmt.Errorf("document %d: the change can't be made without changing something else "+
				"(is there an anchor that is used elsewhere?): write it in a plainer way", d.number)
		}
	}
	return bytes.Clone(out), nil
}
