package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/renderer"
)

func (a *app) verifyCommand() *cobra.Command {
	r := &gitRun{app: a}
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Check that the stamps of HelmReleases are right; exit 1 if one is not",
		Long: `Render every HelmRelease under the PATHs and compare its stamps with what its pods
consume now. It writes nothing, prints what is stale, and exits with 1 if anything is.

Give the flags that the stamps were written with. - reads a stream; a file, or a
stream, without a HelmRelease is one of manifests, and its own stamps are checked.`,
		Example: fmt.Sprintf(`  %[1]s verify clusters/ apps/
  %[1]s verify --kustomization apps/staging apps/production`, a.name),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.prepare(); err != nil {
				return err
			}
			if r.kustomizations {
				return r.verifyKustomizations(cmd.Context(), args)
			}
			return r.verify(cmd.Context(), args)
		},
	}
	r.addFlags(cmd)
	return cmd
}

func (r *gitRun) verify(ctx context.Context, args []string) error {
	in, err := r.app.classify(args)
	if err != nil {
		return err
	}
	if len(in.charts) > 0 {
		return noPlace(in.charts[0])
	}
	var set *release.Set
	switch {
	case in.releasesInStdin:
		set, err = release.LoadStream(stdinName, in.stdin, ".", r.load)
	case len(in.paths) > 0:
		set, err = release.Load(in.paths, r.load)
	}
	if err != nil {
		return err
	}
	var results []error
	if len(in.streams) > 0 && !in.releasesInStdin {
		results = append(results, r.verifyManifests(in))
	}
	if set != nil {
		outcomes, _ := filesOf(set.Releases(), set.Files())
		if !in.releasesInStdin {
			leaveBases(outcomes)
		}
		r.app.examine(ctx, outcomes, r.options, r.releases.jobs, true)
		results = append(results, r.app.report(outcomes, set.Problems(), r.load.SkipMissingValues))
		r.app.hints(outcomes)
		results = append(results, r.app.showStale(outcomes, set.Problems(), func(o *outcome) bool { return o.written.Current(o.answer.Entry) }))
	}
	return worst(results)
}

// worst is the error that decides the exit status.
func worst(results []error) error {
	var difference error
	for _, err := range results {
		if err != nil && !errors.Is(err, cli.ErrDifference) {
			return err
		}
		if err != nil {
			difference = err
		}
	}
	return difference
}

// verifyManifests checks the stamps in files of manifests, as one stream.
func (r *gitRun) verifyManifests(in *inputs) error {
	engine, err := renderer.New(r.manifests())
	if err != nil {
		return err
	}
	stream := &cli.Input{Stream: in.stdin}
	if in.streams[0] != "-" {
		if stream, err = cli.ReadInput(in.streams, nil); err != nil {
			return err
		}
	}
	plan, err := engine.Plan(stream.Stream)
	if err != nil {
		return stream.Place(err)
	}
	for _, w := range plan.Warnings {
		r.app.warn("%s", w)
	}
	if err := r.noteLeftOut(stream.Stream); err != nil {
		return stream.Place(err)
	}
	differences := renderer.Verify(plan)
	if err := cli.ShowDifferences(r.app.stdout, differences, "table"); err != nil {
		return err
	}
	if len(differences) > 0 {
		return cli.ErrDifference
	}
	return nil
}

// showStale prints which stamps are not right, and a summary.
func (a *app) showStale(outcomes []*outcome, problems []error, current func(*outcome) bool) error {
	stale := 0
	for _, o := range outcomes {
		if o.answer == nil || o.err != nil || current(o) {
			continue
		}
		stale++
		differences := o.result.Differences(o.have, o.answer)
		for _, d := range differences {
			fmt.Fprintf(a.stdout, "✗ %s: %s\n", o.place(), d)
		}
		if len(differences) == 0 {
			fmt.Fprintf(a.stdout, "✗ %s: the stamps are right, but their entry is not as stamp writes it, once and last in spec.postRenderers\n", o.place())
		}
	}
	s := summary(outcomes, problems, "verified")
	if stale > 0 {
		fmt.Fprintf(a.stdout, "%s, %d stale: run %s stamp with the same flags\n", s, stale, a.name)
		return cli.ErrDifference
	}
	fmt.Fprintf(a.stdout, "%s, none stale\n", s)
	return nil
}

// isStamped says whether a list of entries of ours is exactly one, this.
func isStamped(have []any, e helmrelease.Entry) bool { return helmrelease.Current(have, e) }
