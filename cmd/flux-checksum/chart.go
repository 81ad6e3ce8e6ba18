package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/cli/values"
	"helm.sh/helm/v4/pkg/getter"

	"github.com/helm-checksum/helm-checksum/internal/release"
	"github.com/helm-checksum/helm-checksum/internal/stamp"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// chartFlags are the flags of `helm template` about a chart and its values.
type chartFlags struct {
	values      values.Options
	version     string
	releaseName string
}

func (f *chartFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringSliceVarP(&f.values.ValueFiles, "values", "f", nil, "values of the chart in a YAML `FILE` or URL")
	fs.StringArrayVar(&f.values.Values, "set", nil, "a value: `KEY=VALUE`")
	fs.StringArrayVar(&f.values.StringValues, "set-string", nil, "a string value: `KEY=VALUE`")
	fs.StringArrayVar(&f.values.FileValues, "set-file", nil, "a value from a file: `KEY=FILE`")
	fs.StringArrayVar(&f.values.JSONValues, "set-json", nil, "a JSON value: `KEY=JSON`")
	fs.StringVar(&f.version, "version", "", "version, or range of versions, of a chart that is not local")
	fs.StringVar(&f.releaseName, "release-name", "release-name", "what .Release.Name is")
}

// given says whether any values were given.
func (f *chartFlags) given() bool {
	v := f.values
	return len(v.ValueFiles)+len(v.Values)+len(v.StringValues)+len(v.FileValues)+len(v.JSONValues) > 0
}

// chart is the chart of the flags.
func (f *chartFlags) chart(ref, name, namespace string, o release.Options) (release.Chart, error) {
	merged, err := f.values.MergeValues(getter.All(cli.New()))
	if err != nil {
		return release.Chart{}, fmt.Errorf("values: %w", err)
	}
	return release.Chart{
		Ref: ref, Version: f.version, ReleaseName: name, Namespace: namespace, Values: merged,
		KubeVersion: o.KubeVersion, APIVersions: o.APIVersions,
	}, nil
}

// examineChart renders a chart twice.
func examineChart(ctx context.Context, c release.Chart, o renderer.Options) (*stamp.Result, error) {
	return stamp.Of(ctx, c.Render, c.RenderAgain, o, stamp.NewLimit(1))
}
