package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"go.yaml.in/yaml/v3"
)

// objects reads a stream with another reader than the engine's.
func objects(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var all []map[string]any
	d := yaml.NewDecoder(bytes.NewReader([]byte(stream)))
	for {
		var object map[string]any
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, stream)
		}
		if object != nil {
			all = append(all, object)
		}
	}
}

// nameOf returns an object's KIND/NAME.
func nameOf(object map[string]any) string {
	metadata, _ := object["metadata"].(map[string]any)
	return fmt.Sprintf("%v/%v", object["kind"], metadata["name"])
}
