package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
)

// Render returns what helm-controller would apply for the release, our own post-renderer
// entry left out. Errors name the release, the field and the remedy; one about values
// that can't be had is a *MissingValuesError.
func (r *Release) Render(ctx context.Context) (*Rendered, error) {
	return r.render(ctx, variation{guess: "1"})
}

// RenderAgain renders as Render does, but with everything changed that may differ when
// the cluster renders: the time of day that templates ask for is later by more than a
// year, so that no format of it can come out the same, and the parts of the chart's version
// that only the cluster knows are others. Content that differs between the two is not
// fixed. There is no need to wait between them.
func (r *Release) RenderAgain(ctx context.Context) (*Rendered, error) {
	return r.render(ctx, variation{guess: "2", shift: anotherTime})
}

// RenderWith renders as Render does, with one more entry at the end of
// spec.postRenderers: what the cluster gets once that entry is in Git.
func (r *Release) RenderWith(ctx context.Context, extraEntry map[string]any) (*Rendered, error) {
	return r.render(ctx, variation{guess: "1", extra: extraEntry})
}

// A variation is what differs between renders of one release.
type variation struct {
	guess string // in place of what only the cluster knows of the chart's version
	shift time.Duration
	extra map[string]any
}

func (r *Release) render(ctx context.Context, v variation) (*Rendered, error) {
	rendered, err := r.run(ctx, v)
	if err != nil {
		return nil, r.wrap(err)
	}
	return rendered, nil
}

func (r *Release) run(ctx context.Context, v variation) (*Rendered, error) {
	rendered := &Rendered{Namespace: r.TargetNamespace}
	if rendered.Namespace == "" {
		rendered.Namespace = "default"
		rendered.warnf("metadata.namespace is missing and so taken to be default; if an overlay sets it, use --kustomization")
	}
	if err := r.checkNames(); err != nil {
		return nil, err
	}
	values, warnings, err := r.values()
	if err != nil {
		return nil, err
	}
	if r.set.options.Vars == nil && !substitutionDisabled(r.Object) {
		if names := variablesOf(r.Object); len(names) > 0 {
			rendered.warnf("variables were not substituted (%s): give them with --var or --vars-from if Flux substitutes them", strings.Join(names, ", "))
		}
	}
	rendered.Warnings = append(rendered.Warnings, warnings...)
	if r.spec.Upgrade.PreserveValues {
		rendered.warnf("spec.upgrade.preserveValues: values of earlier releases, which only the cluster knows, are not taken into account")
	}
	source, err := r.source(ctx)
	if err != nil {
		return nil, err
	}
	ch, err := source.load(v.guess)
	if err != nil {
		return nil, err
	}

	strategyName := r.spec.PostRenderStrategy
	if strategyName == "" {
		strategyName = r.set.options.PostRenderStrategy
	}
	strategy, err := strategyOf(strategyName)
	if err != nil {
		return nil, &fieldError{field: "spec.postRenderStrategy", err: err}
	}
	steps, err := r.chain(v.extra)
	if err != nil {
		return nil, err
	}
	captured := &capture{pipeline: steps}
	clock := newClock(v.shift)

	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	configuration.CustomTemplateFuncs = clock.functions()
	install := action.NewInstall(configuration)
	install.DryRunStrategy = action.DryRunClient
	install.ReleaseName = r.ReleaseName
	install.Namespace = rendered.Namespace
	install.Devel = true
	install.SkipCRDs = true
	install.SkipSchemaValidation = r.spec.Install.DisableSchemaValidation || r.spec.Upgrade.DisableSchemaValidation
	install.PostRenderer = captured
	install.PostRenderStrategy = strategy
	install.APIVersions = common.VersionSet(slices.Clone(r.set.options.APIVersions))
	if k := r.set.options.KubeVersion; k != "" {
		install.KubeVersion, err = common.ParseKubeVersion(k)
		if err != nil {
			return nil, fmt.Errorf("kube version %q: %w", k, err)
		}
	}
	if _, err := install.RunWithContext(ctx, ch, values); err != nil {
		if captured.err != nil {
			return nil, captured.err
		}
		return nil, r.explainRender(err)
	}
	rendered.Streams = captured.streams
	rendered.Stream = joinStreams(captured.streams)
	rendered.ChartHasClock = clock.asked.Load()
	return rendered, nil
}

// explainRender says what to do about errors that have a known remedy.
func (r *Release) explainRender(err error) error {
	if strings.Contains(err.Error(), "chart requires kubeVersion") {
		return fmt.Errorf("%w; --kube-version says which version the cluster has", err)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the chart can't be rendered: %w", err)
}

func (d *Rendered) warnf(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// capture runs the post-renderers and keeps what comes out, one stream for each time that
// Helm calls it.
type capture struct {
	pipeline pipeline
	streams  [][]byte
	err      error
}

func (c *capture) Run(stream *bytes.Buffer) (*bytes.Buffer, error) {
	result, err := c.pipeline.Run(stream)
	if err != nil {
		c.err = err
		return nil, err
	}
	c.streams = append(c.streams, bytes.Clone(result.Bytes()))
	return result, nil
}

func joinStreams(streams [][]byte) []byte {
	var all []byte
	for i, s := range streams {
		if i > 0 {
			all = append(all, "---\n"...)
		}
		all = append(all, s...)
	}
	return all
}
