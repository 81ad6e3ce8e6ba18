package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var packed = []file{
	{"folder/bin/program", []byte("#!/bin/sh\n"), true},
	{"folder/plugin.yaml", []byte("name: checksum\n"), false},
}

var unpacked = []string{
	"-rwxr-xr-x folder/bin/program \"#!/bin/sh\\n\"",
	"-rw-r--r-- folder/plugin.yaml \"name: checksum\\n\"",
}

func TestTarHoldsContentAndModes(t *testing.T) {
	b, err := tarOf(packed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%v %s %q", h.FileInfo().Mode(), h.Name, content))
	}
	if diff := cmp.Diff(unpacked, got); diff != "" {
		t.Errorf("unpacked (-want +got):\n%s", diff)
	}
}

func TestZipHoldsContentAndModes(t *testing.T) {
	b, err := zipOf(packed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%v %s %q", f.Mode(), f.Name, content))
	}
	if diff := cmp.Diff(unpacked, got); diff != "" {
		t.Errorf("unpacked (-want +got):\n%s", diff)
	}
}

var link = regexp.MustCompile(`(?:\]\(|(?:src|href)=")([^)"#\s]+)`)

// TestLinksOfPackedPagesLeadToPackedFiles looks at every Markdown page that goes into an archive.
func TestLinksOfPackedPagesLeadToPackedFiles(t *testing.T) {
	t.Chdir("../..")
	for _, p := range products {
		t.Run(p.name, func(t *testing.T) {
			files, err := readFiles(p.files)
			if err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, f := range files {
				names[f.name] = true
			}
			links := 0
			for _, f := range files {
				if path.Ext(f.name) != ".md" {
					continue
				}
				for _, m := range link.FindAllStringSubmatch(string(f.content), -1) {
					if strings.Contains(m[1], "://") {
						continue
					}
					links++
					if to := path.Join(path.Dir(f.name), m[1]); !names[to] {
						t.Errorf("%s links to %s, which is not in the archive", f.name, to)
					}
				}
			}
			if links == 0 {
				t.Error("no page links to a file")
			}
		})
	}
}

func TestUnknownProgramIsRefused(t *testing.T) {
	if err := run(t.TempDir(), platforms, []string{"helm-checksums"}); err == nil {
		t.Error("made archives of a program that is not there")
	}
}
