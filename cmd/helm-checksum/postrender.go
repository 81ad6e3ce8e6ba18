package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/helm-checksum/helm-checksum/internal/stdin"
)

// postRender stamps stdin to stdout. Whatever fails does so before the first byte
// of output.
func (a *app) postRender() error {
	r, err := a.options.Renderer()
	if err != nil {
		return err
	}
	a.sayWaiting()
	stream, err := stdin.ReadAll(a.stdin)
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
	// Who asks for a report may have no use for the stream, and put /dev/null there.
	if a.report == "" && closedAtStart(a.stdout) {
		return errors.New("stdout is closed")
	}
	out := bufio.NewWriterSize(a.stdout, 64<<10) // what a pipe takes at once
	if _, err := plan.WriteTo(out); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}
