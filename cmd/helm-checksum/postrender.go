package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/helm-checksum/helm-checksum/internal/stdin"
	"github.com/helm-checksum/helm-checksum/internal/stdout"
	"github.com/helm-checksum/helm-checksum/renderer"
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
	stamped, err := a.stamp(r, stream)
	if err != nil {
		return err
	}
	// Who asks for a report may have no use for the stream, and put /dev/null there.
	if a.report == "" && closedAtStart(a.stdout) {
		return errors.New("stdout is closed")
	}
	out := stdout.NewWriter(a.stdout)
	if _, err := stamped.WriteTo(out); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return nil
}

// stamp plans the stream, says what there is to warn of and, if it is asked for, writes the
// report.
func (a *app) stamp(r *renderer.Renderer, stream []byte) (*renderer.StampedStream, error) {
	if a.report == "" {
		stamped, err := r.Stamp(stream)
		if err != nil {
			return nil, err
		}
		a.warn(stamped.Warnings...)
		return stamped, nil
	}
	plan, err := r.Plan(stream)
	if err != nil {
		return nil, err
	}
	a.warn(plan.Warnings...)
	report, err := json.MarshalIndent(plan, "", "  ")
	if err != nil {
		return nil, err
	}
	file := strings.ReplaceAll(a.report, "%p", strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(file, append(report, '\n'), 0o666); err != nil {
		return nil, fmt.Errorf("--report: %w", err)
	}
	return &plan.StampedStream, nil
}
