package catalog

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"strings"
)

// list names the members of an archive.
func list(name string, content []byte) ([]string, error) {
	var names []string
	if strings.HasSuffix(name, ".zip") {
		r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, err
		}
		for _, f := range r.File {
			names = append(names, f.Name)
		}
		return names, nil
	}
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	r := tar.NewReader(zipped)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, err
		}
		names = append(names, h.Name)
	}
}
