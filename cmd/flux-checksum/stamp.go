package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/helmrelease"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/internal/stamp"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// A gitRun is one run of stamp or verify.
type gitRun struct {
	app      *app
	stamps   stampFlags
	releases releaseFlags

	kustomizations bool
	namespace      string // of manifests

	options renderer.Options
	load    release.Options
}

func (r *gitRun) addFlags(cmd *cobra.Command) {
	r.stamps.add(cmd)
	r.releases.add(cmd)
	cmd.Flags().StringVarP(&r.namespace, "namespace", "n", "", "release namespace of plain manifests; a HelmRelease says its own")
	cmd.Flags().BoolVar(&r.kustomizations, "kustomization", false, "the PATHs are directories with a kustomization, such as overlays: build each, and keep the stamps in a patch beside it")
	cmd.Flags().SortFlags = false
}

// prepare reads the flags.
func (r *gitRun) prepare() (err error) {
	if r.options, err = r.stamps.options(); err != nil {
		return err
	}
	r.load, err = r.releases.options()
	return err
}

func (a *app) stampCommand() *cobra.Command {
	r := &gitRun{app: a}
	cmd := &cobra.Command{
		Use:   "stamp PATH...",
		Short: "Write the stamps of HelmReleases into their files",
		Long: `Render every HelmRelease under the PATHs as Flux would, and write the checksums of
what its pods consume into its file, as the last entry of spec.postRenderers.
Nothing else in a file changes. A file of which anything fails is not written.

PATH is a file or a directory; - reads a stream and prints it stamped. A file, or a
stream, without a HelmRelease is one of manifests, and its workloads are stamped.`,
		Example: fmt.Sprintf(`  %[1]s stamp clusters/ apps/
  %[1]s stamp --kustomization apps/staging apps/production
  kustomize build apps/staging | %[1]s stamp -`, a.name),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.prepare(); err != nil {
				return err
			}
			if r.kustomizations {
				return r.stampKustomizations(cmd.Context(), args)
			}
			return r.stamp(cmd.Context(), args)
		},
	}
	r.addFlags(cmd)
	return cmd
}

func (r *gitRun) stamp(ctx context.Context, args []string) error {
	in, err := r.app.classify(args)
	if err != nil {
		return err
	}
	if len(in.charts) > 0 {
		return noPlace(in.charts[0])
	}
	if in.releasesInStdin {
		return r.stampReleaseStream(ctx, in.stdin)
	}
	var failed error
	for _, file := range in.streams {
		if err := r.stampManifests(file, in.stdin); err != nil {
			r.app.fail(err)
			failed = errSaid
		}
	}
	if len(in.paths) > 0 {
		if err := r.stampFiles(ctx, in.paths); err != nil {
			return err
		}
	}
	return failed
}

func noPlace(chart string) error {
	return fmt.Errorf("%s is a chart, which has no place for stamps: they go into the HelmRelease that uses it, or are given by the post-renderer at each upgrade", chart)
}

// stampManifests stamps the workloads of a file, in place, or of stdin, to stdout.
func (r *gitRun) stampManifests(file string, stdin []byte) error {
	content, name := stdin, stdinName
	if file != "-" {
		var err error
		if content, err = os.ReadFile(file); err != nil {
			return err
		}
		name = file
	}
	engine, err := renderer.New(r.manifests())
	if err != nil {
		return err
	}
	out, err := engine.Run(bytes.NewBuffer(bytes.Clone(content)))
	if err == nil {
		err = r.noteLeftOut(content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if file == "-" {
		_, err = r.app.stdout.Write(out.Bytes())
		return err
	}
	if bytes.Equal(out.Bytes(), content) {
		return nil
	}
	if err := helmrelease.WriteFile(file, out.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(r.app.stdout, "stamped %s\n", file)
	return nil
}

// manifests are the options for plain manifests.
func (r *gitRun) manifests() renderer.Options {
	o := r.options
	o.Namespace = r.namespace
	return o
}

// noteLeftOut says how many Secrets in manifests get no stamp only because none does.
func (r *gitRun) noteLeftOut(manifests []byte) error {
	n, err := stamp.LeftOut(manifests, r.manifests())
	if err == nil {
		r.app.noteLeftOut(n)
	}
	return err
}

// stampReleaseStream prints a stream with its HelmReleases stamped, or nothing.
func (r *gitRun) stampReleaseStream(ctx context.Context, stream []byte) error {
	set, err := release.LoadStream(stdinName, stream, ".", r.load)
	if err != nil {
		return err
	}
	outcomes, files := filesOf(set.Releases(), set.Files())
	r.app.examine(ctx, outcomes, r.options, r.releases.jobs, true)
	err = r.app.report(outcomes, set.Problems(), r.load.SkipMissingValues)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if o.answer == nil {
			continue
		}
		if err := o.written.Set(o.answer.Entry); err != nil {
			return fmt.Errorf("%s: %w", o.place(), err)
		}
	}
	if f := files[stdinName]; f != nil {
		if stream, err = f.Bytes(); err != nil {
			return fmt.Errorf("%s: %w", stdinName, err)
		}
	}
	_, err = r.app.stdout.Write(stream)
	return err
}

// stampFiles writes the stamps of the HelmReleases under paths into their files.
func (r *gitRun) stampFiles(ctx context.Context, paths []string) error {
	set, err := release.Load(paths, r.load)
	if err != nil {
		return err
	}
	outcomes, files := filesOf(set.Releases(), set.Files())
	leaveBases(outcomes)
	r.app.examine(ctx, outcomes, r.options, r.releases.jobs, true)
	failed := r.app.report(outcomes, set.Problems(), r.load.SkipMissingValues)
	r.app.hints(outcomes)

	for _, file := range set.Files() {
		err := errors.New("a HelmRelease in it can't be read")
		if !set.Broken(file.Path) {
			err = r.writeFile(file, files[file.Path], outcomes)
		}
		if err != nil {
			r.app.fail(fmt.Errorf("%s: nothing is written: %w", file.Path, err))
			failed = errSaid
		}
	}
	fmt.Fprintf(r.app.stdout, "%s\n", summary(outcomes, set.Problems(), "right"))
	return failed
}

// writeFile writes one file with all its releases' entries, if none of them failed.
func (r *gitRun) writeFile(file release.File, text *helmrelease.File, outcomes []*outcome) error {
	var said []string
	for _, o := range outcomes {
		if o.release.Path != file.Path {
			continue
		}
		if o.err != nil {
			return fmt.Errorf("%s failed", o.name())
		}
		if o.answer == nil || o.written.Current(o.answer.Entry) {
			continue
		}
		if err := o.written.Set(o.answer.Entry); err != nil {
			o.err = err
			return fmt.Errorf("%s: %w", o.name(), err)
		}
		said = append(said, fmt.Sprintf("stamped %s: %s\n", o.place(), countStamps(o.answer.Entry)))
	}
	if len(said) == 0 {
		return nil
	}
	content, err := text.Bytes()
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(file.Path); err != nil || !bytes.Equal(now, file.Content) {
		return errors.Join(errors.New("the file has changed meanwhile: run it again"), err)
	}
	if err := helmrelease.WriteFile(file.Path, content); err != nil {
		return err
	}
	fmt.Fprint(r.app.stdout, strings.Join(said, ""))
	return nil
}

// countStamps says how much an entry stamps.
func countStamps(e helmrelease.Entry) string {
	if e.Empty() {
		return "nothing to stamp, entry removed"
	}
	stamps := 0
	for _, p := range e.Patches {
		for _, t := range p.Templates {
			stamps += len(t.Set)
		}
	}
	return fmt.Sprintf("%s on %s", cli.Count(stamps, "stamp"), cli.Count(len(e.Patches), "workload"))
}

// hints says which releases were left alone, and what to do about them.
func (a *app) hints(outcomes []*outcome) {
	for _, o := range outcomes {
		if o.skipped != "" {
			fmt.Fprintf(a.stderr, "skipped %s: %s\n", o.place(), o.skipped)
		}
	}
}
