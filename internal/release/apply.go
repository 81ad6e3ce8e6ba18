package release

import (
	"bytes"
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// ApplyEntry gives a stream to one entry of spec.postRenderers, in parsed form, with
// helm-controller's options.
func ApplyEntry(stream []byte, entry map[string]any) ([]byte, error) {
	var e postRenderer
	if err := decode(entry, &e); err != nil {
		return nil, fmt.Errorf("post-renderer%w", err)
	}
	if e.Kustomize == nil {
		return stream, nil
	}
	result, err := e.Kustomize.Run(bytes.NewBuffer(bytes.Clone(stream)))
	if err != nil {
		return nil, err
	}
	return result.Bytes(), nil
}

// BuildKustomization builds the kustomization in dir with the options that Flux's
// kustomize-controller pins, on the files as given. It waits for other uses of kustomize.
func BuildKustomization(files filesys.FileSystem, dir string) ([]byte, error) {
	return build(files, dir)
}

// GitRoot returns the directory of the checkout that holds dir, or "" when there is none.
func GitRoot(dir string) string { return gitRoot(dir) }
