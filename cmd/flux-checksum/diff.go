package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"helm.sh/helm/v4/pkg/action"
	helmcli "helm.sh/helm/v4/pkg/cli"
	helmrel "helm.sh/helm/v4/pkg/release/v1"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// A diffRun is one run of diff.
type diffRun struct {
	app      *app
	stamps   stampFlags
	charts   chartFlags
	settings *helmcli.EnvSettings

	kubeVersion string
	apiVersions []string
	format      string

	options renderer.Options
}

func (a *app) diffCommand() *cobra.Command {
	r := &diffRun{app: a, settings: helmcli.New()}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW | diff RELEASE CHART",
		Short: "Show which workloads would roll, and because of which objects and keys",
		Long: `Show which workloads that are in both OLD and NEW would roll because of what they
consume: because of which objects and keys, never values. It exits with 1 if any would.

OLD and NEW are streams (a file; one may be - for stdin) or charts. RELEASE is one in
the cluster; without values of its own the chart is rendered with the release's, as an
upgrade would.`,
		Example: fmt.Sprintf(`  %[1]s diff web ./chart -f values.yaml
  %[1]s diff old.yaml new.yaml -o json`, a.name),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), args) },
	}
	fs := cmd.Flags()
	fs.StringVarP(&r.format, "output", "o", "table", "table or json")
	complete(cmd, "output", cli.Formats...)
	r.charts.add(cmd)
	r.stamps.add(cmd)
	fs.StringVar(&r.kubeVersion, "kube-version", "", "the cluster's version, for charts that ask")
	fs.StringSliceVar(&r.apiVersions, "api-versions", nil, "API versions that the cluster has, for charts that ask")
	r.settings.AddFlags(fs)
	fs.SortFlags = false
	return cmd
}

func (r *diffRun) run(ctx context.Context, args []string) error {
	if err := cli.CheckFormat(r.format); err != nil {
		return err
	}
	if args[0] == "-" && args[1] == "-" {
		return errors.New("only one of OLD and NEW can be stdin")
	}
	var err error
	if r.options, err = r.stamps.options(); err != nil {
		return err
	}
	// Nothing is written to Git here: Secrets count, as for the post-renderer.
	r.options.IgnoreSecrets = r.stamps.secrets == "none"
	r.options.Strict = false
	var old, new *renderer.Plan
	if isRelease(args[0]) {
		old, new, err = r.upgrade(ctx, args[0], args[1])
	} else if old, err = r.plan(ctx, args[0]); err == nil {
		new, err = r.plan(ctx, args[1])
	}
	if err != nil {
		return err
	}
	changes, err := renderer.Diff(old, new)
	if err != nil {
		return err
	}
	if err := cli.ShowChanges(r.app.stdout, changes, r.format); err != nil {
		return err
	}
	if len(changes) > 0 {
		return cli.ErrDifference
	}
	return nil
}

// releaseName is what Helm allows for one (pkg/chart/v2/util, ValidateReleaseName).
var releaseName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// isRelease says whether OLD is a release's name rather than a file: one without a dot
// or slash that is no file. A directory beside it may be called like the release.
func isRelease(arg string) bool {
	info, err := os.Stat(arg)
	return releaseName.MatchString(arg) && (errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir())
}

// plan plans a stream or a chart.
func (r *diffRun) plan(ctx context.Context, arg string) (*renderer.Plan, error) {
	kind, err := cli.Classify(arg)
	if errors.Is(err, fs.ErrNotExist) && strings.Count(arg, "/") == 1 {
		kind, err = cli.Chart, nil // REPOSITORY/CHART
	}
	if err != nil {
		return nil, err
	}
	if kind == cli.HelmReleases {
		return nil, fmt.Errorf("%s: diff compares streams and charts; `%s verify` says what is stale in HelmReleases", arg, r.app.name)
	}
	if kind == cli.Chart {
		return r.planChart(ctx, arg, r.charts.releaseName, r.namespace(), nil)
	}
	in, err := cli.ReadInput([]string{arg}, r.app.stdin)
	if err != nil {
		return nil, err
	}
	p, err := r.planStream(in.Stream, r.settings.Namespace())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arg, err)
	}
	return p, nil
}

func (r *diffRun) namespace() string {
	if n := r.settings.Namespace(); n != "" {
		return n
	}
	return "default"
}

func (r *diffRun) planStream(stream []byte, namespace string) (*renderer.Plan, error) {
	o := r.options
	o.Namespace = namespace
	engine, err := renderer.New(o)
	if err != nil {
		return nil, err
	}
	return engine.Plan(stream)
}

// planChart renders a chart, with the values of the flags or else these.
func (r *diffRun) planChart(ctx context.Context, ref, name, namespace string, values map[string]any) (*renderer.Plan, error) {
	c, err := r.charts.chart(ref, name, namespace, release.Options{KubeVersion: r.kubeVersion, APIVersions: r.apiVersions})
	if err != nil {
		return nil, err
	}
	if !r.charts.given() && values != nil {
		c.Values = values
	}
	result, err := examineChart(ctx, c, r.options)
	if err != nil {
		return nil, err
	}
	for _, object := range result.RandomObjects() {
		r.app.warn("%s is another at each render of chart %s", object, ref)
	}
	rendered, err := c.Render(ctx)
	if err != nil {
		return nil, err
	}
	return r.planStream(rendered.Stream, namespace)
}

// upgrade compares a release in the cluster with what a chart would make of it.
func (r *diffRun) upgrade(ctx context.Context, name, chart string) (old, new *renderer.Plan, err error) {
	namespace := r.namespace()
	configuration := action.NewConfiguration()
	if err := configuration.Init(r.settings.RESTClientGetter(), namespace, r.app.env("HELM_DRIVER")); err != nil {
		return nil, nil, fmt.Errorf("the cluster can't be used: %w", err)
	}
	got, err := action.NewGet(configuration).Run(name)
	if err != nil {
		return nil, nil, fmt.Errorf("release %s in namespace %s: %w", name, namespace, err)
	}
	rel, ok := got.(*helmrel.Release)
	if !ok {
		return nil, nil, fmt.Errorf("release %s in namespace %s is of a form that is not known: %T", name, namespace, got)
	}
	var stream strings.Builder
	for _, h := range rel.Hooks {
		fmt.Fprintf(&stream, "---\n# Source: %s\n%s\n", h.Path, h.Manifest)
	}
	stream.WriteString("---\n" + strings.TrimPrefix(rel.Manifest, "---\n"))
	if old, err = r.planStream([]byte(stream.String()), namespace); err != nil {
		return nil, nil, fmt.Errorf("release %s: %w", name, err)
	}
	new, err = r.planChart(ctx, chart, name, namespace, rel.Config)
	return old, new, err
}
