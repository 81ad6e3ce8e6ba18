package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// postRender stamps stdin to stdout. Whatever fails does so before the first byte
// of output.
func (a *app) postRender() error {
	r, err := a.options.Renderer()
	if err != nil {
		return err
	}
	if term.IsTerminal(int(a.stdin.Fd())) {
		fmt.Fprintf(a.stderr, "helm-checksum: waiting for rendered manifests on stdin, such as those of helm template (%s --help for more)\n", commandName())
	}
	stream, err := readAll(a.stdin)
	if err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	plan, err := r.Plan(stream)
	if err != nil {
		return err
	}
	for _, w := range plan.Warnings {
		a.warn(w)
	}
	if a.report != "" {
		report, err := json.MarshalIndent(plan, "", "  ")
		if err != nil {
			return err
		}
		file := strings.ReplaceAll(a.report, "%p", strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(file, append(report, '\n'), 0o666); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	if closedAtStart(a.stdout) {
		return errors.New("stdout is closed")
	}
	if _, err := plan.WriteTo(a.stdout); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}

// readAll reads a file to its end.
func readAll(f *os.File) ([]byte, error) {
	const first = 64 << 10
	size := first
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = int(info.Size()) + 1
	}
	b := make([]byte, 0, size)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			grown := make([]byte, len(b), 2*cap(b))
			copy(grown, b)
			b = grown
		}
	}
}
