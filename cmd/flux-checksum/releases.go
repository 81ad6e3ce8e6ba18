package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/internal/overlay"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/internal/stamp"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// An outcome is what became of one HelmRelease. One of result, skipped, unverified and
// err says it.
type outcome struct {
	release *release.Release
	written *helmrelease.Release // the same in its file's text; nil if not looked for
	have    []any                // the entries of ours that it has

	result *stamp.Result
	answer *stamp.Answer

	skipped    string // why it is left alone
	unverified string // why it could not be rendered, with --missing-values=skip
	err        error
}

// name is how messages call the release.
func (o *outcome) name() string {
	name := o.release.Name
	if o.release.Namespace != "" {
		name = o.release.Namespace + "/" + name
	}
	return "HelmRelease " + name
}

// place is the release with the file that it is in.
func (o *outcome) place() string { return o.release.Path + ": " + o.name() }

const skipAnnotation = "helm-checksum/skip"

// examine renders releases side by side and finds out which entry each must have. It
// changes the outcomes in place; their order is not touched.
func (a *app) examine(ctx context.Context, outcomes []*outcome, o renderer.Options, jobs int, entries bool) {
	limit := stamp.NewLimit(jobs)
	p := newProgress(a.stderr, len(outcomes))
	defer p.end()
	var wait sync.WaitGroup
	for _, out := range outcomes {
		wait.Go(func() {
			defer p.step()
			if out.err == nil && out.skipped == "" {
				out.examine(ctx, o, limit, entries)
			}
		})
	}
	wait.Wait()
}

func (o *outcome) examine(ctx context.Context, options renderer.Options, limit stamp.Limit, entries bool) {
	if o.release.IsPatch {
		o.skipped = "it names no chart: a patch for a HelmRelease elsewhere"
		return
	}
	if skip, ok := o.release.Annotations[skipAnnotation]; ok {
		switch skip {
		case "true":
			o.skipped = "annotated " + skipAnnotation
			return
		case "false":
		default:
			o.err = fmt.Errorf("%s: annotation %s is %q, want \"true\" or \"false\"", o.place(), skipAnnotation, skip)
			return
		}
	}
	var err error
	if o.result, err = stamp.Of(ctx, o.release.Render, o.release.RenderAgain, options, limit); err == nil && entries {
		var current []any
		if o.written != nil {
			current = o.written.PostRenderers()
		}
		o.answer, err = o.result.Entry(current)
	}
	if err != nil {
		o.err = fmt.Errorf("%s: %w", o.place(), trimName(err, o.name()))
	}
}

// trimName takes the release's name off an error that begins with it: the place has it.
func trimName(err error, name string) error {
	if rest, ok := strings.CutPrefix(err.Error(), name+": "); ok {
		return renamed{rest, err}
	}
	return err
}

type renamed struct {
	text string
	err  error
}

func (r renamed) Error() string { return r.text }
func (r renamed) Unwrap() error { return r.err }

// report prints the warnings and errors of outcomes in their order, and which were left
// out. It returns errSaid if there was an error.
func (a *app) report(outcomes []*outcome, problems []error, skipMissing bool) error {
	failed := len(problems) > 0
	for _, err := range problems {
		a.fail(err)
	}
	secrets := map[string]bool{}
	for _, o := range outcomes {
		var missing *release.MissingValuesError
		if skipMissing && errors.As(o.err, &missing) {
			o.unverified, o.err = o.err.Error(), nil
		}
		switch {
		case o.err != nil:
			failed = true
			a.fail(o.err)
		case o.unverified != "":
			a.warn("unverified: %s", o.unverified)
		case o.result != nil:
			for _, w := range o.result.Warnings {
				a.warn("%s: %s", o.place(), w)
			}
			for _, object := range o.result.RandomObjects() {
				a.warn("%s: %s is another at each render of chart %s: it gets no stamp; give the chart a fixed value for it", o.place(), object, chartOf(o.release))
			}
			for place := range o.result.LeftOut {
				c := o.result.At(place)
				secrets[o.name()+" "+c.Namespace+" "+c.Name] = true
			}
		}
	}
	a.noteLeftOut(len(secrets))
	if failed {
		return errSaid
	}
	return nil
}

// noteLeftOut says that n Secrets get no stamp because none does unless asked for.
func (a *app) noteLeftOut(n int) {
	if n == 0 {
		return
	}
	fmt.Fprintf(a.stderr, "note: Secrets are left out (%d here, no stamps for them): a plain checksum in Git would give away short secrets; "+
		"--hmac-key-file keys the checksums, --secrets=plain writes them all the same\n", n)
}

// chartOf names a release's chart as the release does.
func chartOf(r *release.Release) string {
	get := func(path ...string) string {
		var v any = r.Object
		for _, key := range path {
			m, _ := v.(map[string]any)
			v = m[key]
		}
		s, _ := v.(string)
		return s
	}
	if c := get("spec", "chart", "spec", "chart"); c != "" {
		return c
	}
	return get("spec", "chartRef", "kind") + " " + get("spec", "chartRef", "name")
}

// filesOf pairs the outcomes of releases with their places in the files' texts. A file
// whose text can't be read that way is an error of each of its releases.
func filesOf(releases []*release.Release, files []release.File) ([]*outcome, map[string]*helmrelease.File) {
	parsed := map[string]*helmrelease.File{}
	broken := map[string]error{}
	for _, f := range files {
		p, err := helmrelease.Parse(f.Content)
		if err != nil {
			broken[f.Path] = err
			continue
		}
		parsed[f.Path] = p
	}
	var outcomes []*outcome
	for _, r := range releases {
		o := &outcome{release: r}
		outcomes = append(outcomes, o)
		if err := broken[r.Path]; err != nil {
			o.err = fmt.Errorf("%s: %w", o.place(), err)
			continue
		}
		if f := parsed[r.Path]; f != nil {
			for _, w := range f.Releases() {
				if w.Line == r.Line && w.Index == r.Index {
					o.written = w
				}
			}
		}
		if o.written == nil {
			o.err = fmt.Errorf("%s: it is not found again in the file's text: write it as a document, or an item of a List, of its own", o.place())
			continue
		}
		o.have = o.written.Entries()
	}
	return outcomes, parsed
}

// leaveBases marks the releases whose files are not what the cluster gets because
// kustomizations change them on the way.
func leaveBases(outcomes []*outcome) {
	graphs := map[string]*overlay.Graph{}
	for _, o := range outcomes {
		if o.err != nil || o.release.IsPatch {
			continue
		}
		file, err := filepath.Abs(o.release.Path)
		if err != nil {
			o.err = err
			continue
		}
		root := release.GitRoot(filepath.Dir(file))
		if root == "" {
			continue
		}
		if graphs[root] == nil {
			graphs[root] = overlay.NewGraph(root)
		}
		written := ""
		if o.written != nil {
			written = o.written.Namespace
		}
		if dirs := graphs[root].BuiltBy(file, written); len(dirs) > 0 {
			o.skipped = "kustomizations change it on the way to the cluster: stamp --kustomization " + strings.Join(shorten(dirs), " ")
		}
	}
}

// shorten makes directories relative to the working directory where that is shorter.
func shorten(dirs []string) []string {
	wd, err := filepath.Abs(".")
	if err != nil {
		return dirs
	}
	var out []string
	for _, d := range dirs {
		if rel, err := filepath.Rel(wd, d); err == nil && len(rel) < len(d) {
			d = rel
		}
		out = append(out, filepath.ToSlash(d))
	}
	return out
}

// summary counts outcomes, and what can't be read, for a last line.
func summary(outcomes []*outcome, problems []error, done string) string {
	counts := map[string]int{}
	if len(problems) > 0 {
		counts["unreadable"] = len(problems)
	}
	for _, o := range outcomes {
		switch {
		case o.err != nil:
			counts["failed"]++
		case o.unverified != "":
			counts["unverified"]++
		case o.skipped != "":
			counts["skipped"]++
		default:
			counts[done]++
		}
	}
	parts := []string{fmt.Sprintf("%d %s", counts[done], done)}
	delete(counts, done)
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[k], k))
	}
	return fmt.Sprintf("%d HelmReleases: %s", len(outcomes)+len(problems), strings.Join(parts, ", "))
}
