package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/internal/overlay"
	"github.com/helm-checksum/helm-checksum/internal/release"
)

// A builtDir is a directory given with --kustomization, with the releases that it builds.
type builtDir struct {
	build    *overlay.Build
	outcomes []*outcome
	failed   error
}

// build builds the directories and examines all their releases. A directory that
// overlays build on is left out.
func (r *gitRun) build(ctx context.Context, dirs []string) ([]*builtDir, []*outcome, error) {
	if len(dirs) == 0 {
		return nil, nil, errors.New("--kustomization: nothing to build: give a directory with a kustomization.yaml")
	}
	var all []*builtDir
	var outcomes []*outcome
	var failed error
	for _, dir := range dirs {
		overlays, err := overlaysOf(dir)
		if err == nil && len(overlays) > 0 {
			fmt.Fprintf(r.app.stderr, "skipped %s: it is a base: stamp what is built on it: --kustomization %s\n", dir, strings.Join(overlays, " "))
			continue
		}
		var b *builtDir
		if err == nil {
			b, err = r.buildDir(dir)
		}
		if err != nil {
			r.app.fail(err)
			failed = errSaid
			continue
		}
		if b.failed != nil {
			failed = errSaid
		}
		all = append(all, b)
		outcomes = append(outcomes, b.outcomes...)
	}
	r.app.examine(ctx, outcomes, r.options, r.releases.jobs, true)
	if err := r.app.report(outcomes, nil, r.load.SkipMissingValues); err != nil {
		failed = err
	}
	r.app.hints(outcomes)
	return all, outcomes, failed
}

// overlaysOf returns the overlays that build on dir.
func overlaysOf(dir string) ([]string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root := release.GitRoot(abs)
	if root == "" {
		return nil, nil
	}
	return shorten(overlay.NewGraph(root).Overlays(abs)), nil
}

func (r *gitRun) buildDir(dir string) (*builtDir, error) {
	build, err := overlay.New(dir)
	if err != nil {
		return nil, err
	}
	set, err := release.LoadStream(dir, build.Stream, dir, r.load)
	if err != nil {
		return nil, err
	}
	b := &builtDir{build: build}
	for _, p := range set.Problems() {
		r.app.fail(p)
		b.failed = errSaid
	}
	parsed, err := helmrelease.Parse(build.Stream)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for _, rel := range set.Releases() {
		o := &outcome{release: rel}
		b.outcomes = append(b.outcomes, o)
		i := b.index(parsed, rel)
		if i < 0 {
			o.err = fmt.Errorf("%s: it is not found again in what kustomize builds", o.place())
			continue
		}
		o.have, o.err = build.Have(i)
	}
	return b, nil
}

// index is a release's place among those of the build.
func (b *builtDir) index(parsed *helmrelease.File, rel *release.Release) int {
	for i, w := range parsed.Releases() {
		if w.Line == rel.Line && w.Index == rel.Index {
			return i
		}
	}
	return -1
}

// stampKustomizations writes the patches of directories with a kustomization.
func (r *gitRun) stampKustomizations(ctx context.Context, dirs []string) error {
	all, outcomes, failed := r.build(ctx, dirs)
	for _, b := range all {
		if err := r.writePatches(b); err != nil {
			r.app.fail(fmt.Errorf("%s: nothing is written: %w", b.build.Dir, err))
			failed = errSaid
		}
	}
	if len(all) > 0 {
		fmt.Fprintf(r.app.stdout, "%s\n", summary(outcomes, nil, "right"))
	}
	return failed
}

// changes are the files to write for a directory. It is an error if one of its releases failed.
func (b *builtDir) changes() ([]overlay.Change, error) {
	if b.failed != nil {
		return nil, errors.New("some of its HelmReleases can't be read")
	}
	parsed, err := helmrelease.Parse(b.build.Stream)
	if err != nil {
		return nil, err
	}
	entries := make([]*helmrelease.Entry, len(b.build.Releases()))
	for _, o := range b.outcomes {
		if o.err != nil {
			return nil, fmt.Errorf("%s failed", o.name())
		}
		if o.answer != nil {
			entries[b.index(parsed, o.release)] = &o.answer.Entry
		}
	}
	return b.build.Changes(entries)
}

func (r *gitRun) writePatches(b *builtDir) error {
	changes, err := b.changes()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.Content == nil {
			if err := os.Remove(c.Path); err != nil {
				return err
			}
			fmt.Fprintf(r.app.stdout, "removed %s\n", c.Path)
			continue
		}
		if err := helmrelease.WriteFile(c.Path, c.Content); err != nil {
			return err
		}
		fmt.Fprintf(r.app.stdout, "wrote %s\n", c.Path)
	}
	return nil
}

// verifyKustomizations checks the patches of directories with a kustomization.
func (r *gitRun) verifyKustomizations(ctx context.Context, dirs []string) error {
	all, outcomes, failed := r.build(ctx, dirs)
	results := []error{failed}
	var unlisted []string
	for _, b := range all {
		if changes, err := b.changes(); err == nil {
			for _, c := range changes {
				unlisted = append(unlisted, c.Path)
			}
		}
	}
	results = append(results, r.app.showStale(outcomes, nil, func(o *outcome) bool { return isStamped(o.have, o.answer.Entry) }))
	if worst(results) == nil && len(unlisted) > 0 {
		fmt.Fprintf(r.app.stdout, "✗ the stamps are right, but stamp would write %s\n", strings.Join(unlisted, ", "))
		return worst(append(results, cli.ErrDifference))
	}
	return worst(results)
}
