package release

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// A document is one YAML document of a file or stream.
type document struct {
	number int // counted from 1, documents without content left out
	line   int // of its first line with content, counted from 1
	text   []byte
}

// splitDocuments cuts a stream at its document markers: a line that starts with
// --- or ... (YAML 1.2, section 9.1.2, forbids them inside any scalar).
func splitDocuments(stream []byte) []document {
	var docs []document
	start, first := 0, 0 // offset of the document; its first line with content, 0 for none
	flush := func(end int) {
		if first > 0 {
			docs = append(docs, document{number: len(docs) + 1, line: first, text: stream[start:end]})
		}
		first = 0
	}
	line := 0
	for offset := 0; offset < len(stream); {
		line++
		next := len(stream)
		if i := bytes.IndexByte(stream[offset:], '\n'); i >= 0 {
			next = offset + i + 1
		}
		content := stream[offset:next]
		if line == 1 {
			content = bytes.TrimPrefix(content, []byte("\ufeff"))
		}
		switch {
		case isMarker(content, "---"):
			flush(offset)
			start = offset
			if rest := bytes.TrimSpace(content[3:]); len(rest) > 0 && rest[0] != '#' {
				first = line
			}
		case isMarker(content, "..."):
			flush(offset)
			start = next
		default:
			c := bytes.TrimSpace(content)
			if first == 0 && len(c) > 0 && c[0] != '#' && c[0] != '%' {
				first = line
			}
		}
		offset = next
	}
	flush(len(stream))
	return docs
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// An object is one Kubernetes object that was found in a file or stream.
type object struct {
	apiVersion, kind, namespace, name string

	path  string
	doc   int // document.number
	line  int // document.line
	index int // in the items of a List; else -1

	content map[string]any

	// unusable says why the content is not what the cluster will have, such as
	// "is encrypted with SOPS"; empty when it is.
	unusable string
}

func (o *object) group() string {
	group, _, ok := strings.Cut(o.apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

func (o *object) place() string {
	return fmt.Sprintf("%s, line %d", o.path, o.line)
}

// errNotAnObject is for documents that are YAML but no Kubernetes object.
var errNotAnObject = errors.New("not a Kubernetes object")

// parseObjects reads the objects of one document, a List's items one by one.
func parseObjects(path string, d document, content map[string]any) []*object {
	o := newObject(content)
	o.path, o.doc, o.line, o.index = path, d.number, d.line, -1
	items, isList := content["items"].([]any)
	if !isList || !strings.HasSuffix(o.kind, "List") {
		return []*object{o}
	}
	var objects []*object
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		io := newObject(m)
		io.path, io.doc, io.line, io.index = path, d.number, d.line, i
		if io.kind == "" { // items of a typed list, such as ConfigMapList, may leave it out
			io.kind, io.apiVersion = strings.TrimSuffix(o.kind, "List"), o.apiVersion
		}
		objects = append(objects, io)
	}
	return objects
}

func newObject(content map[string]any) *object {
	o := &object{content: content}
	o.apiVersion, _ = content["apiVersion"].(string)
	o.kind, _ = content["kind"].(string)
	metadata, _ := content["metadata"].(map[string]any)
	o.name, _ = metadata["name"].(string)
	o.namespace, _ = metadata["namespace"].(string)
	if _, ok := content["sops"].(map[string]any); ok {
		o.unusable = "is encrypted with SOPS"
	}
	return o
}

func parseDocument(text []byte) (map[string]any, error) {
	var content any
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, err
	}
	m, ok := content.(map[string]any)
	if !ok {
		return nil, errNotAnObject
	}
	return m, nil
}
