package release

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/registry"
)

// A Chart is a chart as `helm template` gets it, without a HelmRelease.
type Chart struct {
	// Ref is a chart directory, a .tgz file, an oci:// reference, or REPOSITORY/CHART.
	Ref     string
	Version string // of a chart that is not local; a range is allowed

	ReleaseName, Namespace string
	Values                 map[string]any
	KubeVersion            string
	APIVersions            []string
}

// Render renders the chart with Helm's SDK.
func (c Chart) Render(ctx context.Context) (*Rendered, error) { return c.render(ctx, 0) }

// RenderAgain renders it at another time of day, as Release.RenderAgain does.
func (c Chart) RenderAgain(ctx context.Context) (*Rendered, error) {
	return c.render(ctx, anotherTime)
}

func (c Chart) render(ctx context.Context, shift time.Duration) (*Rendered, error) {
	captured := &capture{}
	clock := newClock(shift)
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	configuration.CustomTemplateFuncs = clock.functions()
	install := action.NewInstall(configuration)
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName, install.Namespace, install.Version = c.ReleaseName, c.Namespace, c.Version
	install.SkipCRDs = true
	install.PostRenderer = captured
	install.PostRenderStrategy = action.PostRenderStrategyCombined
	install.APIVersions = common.VersionSet(slices.Clone(c.APIVersions))
	var err error
	if c.KubeVersion != "" {
		if install.KubeVersion, err = common.ParseKubeVersion(c.KubeVersion); err != nil {
			return nil, fmt.Errorf("kube version %q: %w", c.KubeVersion, err)
		}
	}
	path, err := c.locate(install)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", c.Ref, err)
	}
	ch, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", c.Ref, err)
	}
	if _, err := install.RunWithContext(ctx, ch, c.Values); err != nil {
		return nil, fmt.Errorf("chart %s: it can't be rendered: %w", c.Ref, err)
	}
	return &Rendered{
		Stream: joinStreams(captured.streams), Streams: captured.streams,
		ChartHasClock: clock.asked.Load(), Namespace: c.Namespace,
	}, nil
}

// locate gets a chart that is not local by Helm's own means, credentials included.
func (c Chart) locate(install *action.Install) (string, error) {
	settings := cli.New()
	if strings.HasPrefix(c.Ref, ociScheme) {
		client, err := registry.NewClient(
			registry.ClientOptWriter(io.Discard),
			registry.ClientOptCredentialsFile(settings.RegistryConfig),
			registry.ClientOptEnableCache(true),
		)
		if err != nil {
			return "", err
		}
		install.SetRegistryClient(client)
	}
	return install.LocateChart(c.Ref, settings)
}
