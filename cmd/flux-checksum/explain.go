package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/internal/stamp"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// An explainRun is one run of explain.
type explainRun struct {
	app      *app
	stamps   stampFlags
	releases releaseFlags
	charts   chartFlags

	namespace string
	format    string

	options renderer.Options
	load    release.Options
}

func (a *app) explainCommand() *cobra.Command {
	r := &explainRun{app: a}
	cmd := &cobra.Command{
		Use:   "explain CHART | PATH... | -",
		Short: "Show who consumes what: which keys, through what, stamped or why not",
		Long: `Show every workload, which ConfigMaps and Secrets its pods consume, which keys of
them and through what, and whether they are stamped or why not.

A chart (a directory with Chart.yaml, a .tgz, oci://...) is rendered twice, and so are
the HelmReleases under PATHs: what differs is marked as random, and would roll its pods
at each upgrade. - or a file without a HelmRelease is a stream of manifests.`,
		Example: fmt.Sprintf(`  %[1]s explain ./chart -f values.yaml --set a=b
  %[1]s explain oci://registry.example.com/charts/web --version '1.x'
  %[1]s explain apps/ -o json`, a.name),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	cmd.Flags().StringVarP(&r.format, "output", "o", "table", "table or json")
	complete(cmd, "output", cli.Formats...)
	cmd.Flags().StringVarP(&r.namespace, "namespace", "n", "", "release namespace of a chart or stream")
	r.charts.add(cmd)
	r.stamps.add(cmd)
	r.releases.add(cmd)
	cmd.Flags().SortFlags = false
	return cmd
}

func (r *explainRun) run(ctx context.Context, args []string) error {
	if err := cli.CheckFormat(r.format); err != nil {
		return err
	}
	var err error
	if r.options, err = r.stamps.options(); err != nil {
		return err
	}
	if r.load, err = r.releases.options(); err != nil {
		return err
	}
	if r.namespace == "" && r.app.name == "helm checksum" {
		r.namespace = r.app.env("HELM_NAMESPACE")
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	in, err := r.app.classify(args)
	if err != nil {
		return err
	}
	// Nothing is written to Git here: for charts and streams Secrets are shown as the
	// post-renderer stamps them.
	postRenderer := r.options
	postRenderer.IgnoreSecrets = r.stamps.secrets == "none"
	postRenderer.Namespace = r.namespace
	for _, ref := range in.charts {
		if err := r.explainChart(ctx, ref, postRenderer); err != nil {
			return err
		}
	}
	if len(in.streams) > 0 && !in.releasesInStdin {
		if err := r.explainStream(in, postRenderer); err != nil {
			return err
		}
	}
	if len(in.paths) > 0 || in.releasesInStdin {
		return r.explainReleases(ctx, in)
	}
	return nil
}

func (r *explainRun) explainChart(ctx context.Context, ref string, o renderer.Options) error {
	namespace := r.namespace
	if namespace == "" {
		namespace = "default"
	}
	c, err := r.charts.chart(ref, r.charts.releaseName, namespace, r.load)
	if err != nil {
		return err
	}
	result, err := examineChart(ctx, c, o)
	if err != nil {
		return err
	}
	for _, w := range result.Warnings {
		r.app.warn("%s", w)
	}
	for _, object := range result.RandomObjects() {
		r.app.warn("%s is another at each render of chart %s: its pods roll at each upgrade; give the chart a fixed value for it, or --ignore it", object, ref)
	}
	return r.show(result, "")
}

func (r *explainRun) explainStream(in *inputs, o renderer.Options) error {
	stream := &cli.Input{Stream: in.stdin}
	var err error
	if in.streams[0] != "-" {
		if stream, err = cli.ReadInput(in.streams, nil); err != nil {
			return err
		}
	}
	engine, err := renderer.New(o)
	if err != nil {
		return err
	}
	plan, err := engine.Plan(stream.Stream)
	if err != nil {
		return stream.Place(err)
	}
	for _, w := range plan.Warnings {
		r.app.warn("%s", w)
	}
	return cli.ShowPlan(r.app.stdout, plan, r.format)
}

func (r *explainRun) explainReleases(ctx context.Context, in *inputs) error {
	var set *release.Set
	var err error
	if in.releasesInStdin {
		set, err = release.LoadStream(stdinName, in.stdin, ".", r.load)
	} else {
		set, err = release.Load(in.paths, r.load)
	}
	if err != nil {
		return err
	}
	var outcomes []*outcome
	for _, rel := range set.Releases() {
		outcomes = append(outcomes, &outcome{release: rel})
	}
	r.app.examine(ctx, outcomes, r.options, r.releases.jobs, false)
	failed := r.app.report(outcomes, set.Problems(), r.load.SkipMissingValues)
	r.app.hints(outcomes)
	for i, o := range outcomes {
		if o.result == nil {
			continue
		}
		if r.format == "table" {
			if i > 0 {
				fmt.Fprintln(r.app.stdout)
			}
			fmt.Fprintln(r.app.stdout, o.place())
		}
		if err := r.show(o.result, o.name()); err != nil {
			return err
		}
	}
	return failed
}

// show prints a result: the plan, with what is random marked. Of several releases each
// has a report of its own, with the release's name in the field "release".
func (r *explainRun) show(result *stamp.Result, name string) error {
	if r.format == "json" {
		return r.showJSON(result, name)
	}
	marked := *result.Plan
	marked.Configs = consumed(result)
	marked.Workloads = slices.Clone(marked.Workloads)
	for i := range marked.Workloads {
		w := &marked.Workloads[i]
		w.Consumes = slices.Clone(w.Consumes)
		for j := range w.Consumes {
			place := stamp.Place{Workload: i, Consumption: j}
			c := &w.Consumes[j]
			switch {
			case result.Random[place] && c.Status == renderer.Stamped:
				c.Status += ", but random: another at each render"
			case result.Random[place]:
				c.Status += ", and random: another at each render"
			case result.LeftOut[place]:
				c.Status = "left out, as Secrets are without --hmac-key-file"
			}
		}
	}
	return cli.ShowPlan(r.app.stdout, &marked, r.format)
}

// consumed are the config objects of a result with their consumers: a Secret that is left
// out has those that it would have.
func consumed(result *stamp.Result) []renderer.Config {
	configs := slices.Clone(result.Plan.Configs)
	for place := range result.LeftOut {
		c := result.At(place)
		for i := range configs {
			if o := &configs[i]; o.Kind == c.Kind && o.Namespace == c.Namespace && o.Name == c.Name {
				o.Consumers++
			}
		}
	}
	return configs
}

// A jsonReport is the report of CONTRACT.md section 9 with what only a second render tells.
type jsonReport struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Release    string            `json:"release,omitempty"`
	Workloads  []jsonWorkload    `json:"workloads"`
	Configs    []renderer.Config `json:"configs"`
	Warnings   []string          `json:"warnings"`
}

type jsonWorkload struct {
	renderer.Workload
	Consumes []jsonConsumption `json:"consumes"`
}

type jsonConsumption struct {
	renderer.Consumption
	Random bool `json:"random,omitempty"` // another at each render
}

func (r *explainRun) showJSON(result *stamp.Result, name string) error {
	report := jsonReport{
		APIVersion: "helm-checksum/v1", Kind: "Report", Release: name,
		Workloads: []jsonWorkload{}, Configs: consumed(result), Warnings: result.Plan.Warnings,
	}
	for i, w := range result.Plan.Workloads {
		jw := jsonWorkload{Workload: w, Consumes: []jsonConsumption{}}
		for j, c := range w.Consumes {
			jw.Consumes = append(jw.Consumes, jsonConsumption{c, result.Random[stamp.Place{Workload: i, Consumption: j}]})
		}
		report.Workloads = append(report.Workloads, jw)
	}
	return cli.WriteJSON(r.app.stdout, report)
}
