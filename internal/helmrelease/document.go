package helmrelease

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// A document is one YAML document of a file, read in two ways: as nodes, which have
// positions, and as Kubernetes reads it, which is what it means.
type document struct {
	number int // in the file, from 1
	offset int // in the file
	line   int // the first with content, in the file
	text   *text
	root   *yaml.Node
	value  any
	edits  []renderer.Edit // offsets are the document's

	// changes make of what the document meant what it must mean after the edits.
	changes []func(value any) any
}

// parse reads the documents of a file that mention word; others are not looked at.
func parse(src []byte, word string) ([]*document, error) {
	var docs []*document
	for i, d := range renderer.Documents(src) {
		content := src[d.Start:d.End]
		if d.Line == 0 || !bytes.Contains(content, []byte(word)) {
			continue
		}
		doc := &document{number: i + 1, offset: d.Start, line: d.Line, text: newText(content)}
		var node yaml.Node
		if err := yaml.Unmarshal(doc.text.src, &node); err != nil {
			return nil, fmt.Errorf("document %d: %w", doc.number, err)
		}
		if err := k8syaml.Unmarshal(doc.text.src, &doc.value); err != nil {
			return nil, fmt.Errorf("document %d: %w", doc.number, err)
		}
		if node.Kind == yaml.DocumentNode {
			doc.root = node.Content[0]
		} else {
			doc.root = &node
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// child is the value of a mapping's key, as far as the text itself has it (not by a
// merge key), and its index in Content; the last of duplicate keys, as Kubernetes reads it.
func child(mapping *yaml.Node, key string) (*yaml.Node, int) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, -1
	}
	for i := len(mapping.Content) - 2; i >= 0; i -= 2 {
		if mapping.Content[i].Value == key && mapping.Content[i].Tag != "!!merge" {
			return mapping.Content[i+1], i
		}
	}
	return nil, -1
}
