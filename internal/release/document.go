package release

import (
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A document is one YAML document of a file or stream.
type document struct {
	number int // counted from 1
	line   int // of its first line with content, counted from 1
	text   []byte
}

// splitDocuments returns the documents of a stream that have content.
func splitDocuments(stream []byte) []document {
	var docs []document
	for i, d := range renderer.Documents(stream) {
		if d.Line > 0 {
			docs = append(docs, document{number: i + 1, line: d.Line, text: stream[d.Start:d.End]})
		}
	}
	return docs
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
