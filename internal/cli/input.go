package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// InputKind says what an argument names (CONTRACT.md section 10).
type InputKind int

// The kinds of input.
const (
	Stream       InputKind = iota // "-" or a file without a HelmRelease
	Chart                         // a directory with a Chart.yaml, a .tgz, an oci:// reference
	HelmReleases                  // anything else
)

// The lines of a HelmRelease, compiled when they are needed: the post-renderer,
// which starts in every upgrade, does not.
var helmReleaseLines = sync.OnceValue(func() [2]*regexp.Regexp {
	return [2]*regexp.Regexp{
		// Indented as an item of a List may be, or inside braces, in JSON for example.
		regexp.MustCompile(`(?m)(?:^|[{,])[\s-]*["']?kind["']?\s*:\s*["']?HelmRelease["']?\s*(?:[,}#]|$)`),
		regexp.MustCompile(`(?m)(?:^|[{,])[\s-]*["']?apiVersion["']?\s*:\s*["']?helm\.toolkit\.fluxcd\.io/`),
	}
})

// Classify says what an argument names. The error is about a file that can't be read.
func Classify(arg string) (InputKind, error) {
	switch {
	case arg == "-":
		return Stream, nil
	case strings.HasPrefix(arg, "oci://"):
		return Chart, nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return 0, err
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(arg, "Chart.yaml")); err == nil {
			return Chart, nil
		}
		return HelmReleases, nil
	}
	if strings.HasSuffix(arg, ".tgz") || strings.HasSuffix(arg, ".tar.gz") {
		return Chart, nil
	}
	if !info.Mode().IsRegular() {
		return Stream, nil // a pipe can be read only once
	}
	content, err := os.ReadFile(arg)
	if err != nil {
		return 0, err
	}
	if HasHelmRelease(content) {
		return HelmReleases, nil
	}
	return Stream, nil
}

// HasHelmRelease says whether a YAML text has a HelmRelease among its documents.
func HasHelmRelease(text []byte) bool {
	if !bytes.Contains(text, []byte("HelmRelease")) {
		return false
	}
	lines := helmReleaseLines()
	return lines[0].Match(text) && lines[1].Match(text)
}

// An Input is the stream that one or several files make together: a workload in one
// may consume a ConfigMap in another.
type Input struct {
	Stream []byte
	parts  []part
}

// A part is one file of an Input.
type part struct {
	name string
	line int // of the stream, where it begins
}

// ReadInput reads the files, "-" or none meaning stdin, into one stream.
func ReadInput(files []string, stdin io.Reader) (*Input, error) {
	if len(files) == 0 {
		files = []string{"-"}
	}
	in := &Input{}
	for _, name := range files {
		var content []byte
		var err error
		if name == "-" {
			content, err = io.ReadAll(stdin)
			name = "standard input"
		} else {
			content, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, err
		}
		if len(files) == 1 {
			in.Stream = content
			return in, nil
		}
		if !bytes.HasPrefix(content, []byte("---")) && len(in.Stream) > 0 {
			in.Stream = append(in.Stream, "---\n"...)
		}
		in.parts = append(in.parts, part{name, 1 + bytes.Count(in.Stream, []byte("\n"))})
		in.Stream = append(in.Stream, content...)
		if len(content) > 0 && content[len(content)-1] != '\n' {
			in.Stream = append(in.Stream, '\n')
		}
	}
	return in, nil
}

// Place turns an engine's error about the stream into one about the file.
func (in *Input) Place(err error) error {
	var e *renderer.Error
	if len(in.parts) == 0 || !errors.As(err, &e) || e.Line == 0 {
		return err
	}
	i, found := slices.BinarySearchFunc(in.parts, e.Line, func(p part, line int) int { return p.line - line })
	if !found {
		i--
	}
	if i < 0 {
		return err
	}
	name := fmt.Sprintf("%s, line %d", in.parts[i].name, e.Line-in.parts[i].line+1)
	if e.Object != "" {
		name += ", " + e.Object
	}
	return fmt.Errorf("%s: %w", name, e.Err)
}
