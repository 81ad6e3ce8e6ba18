package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

// A chartSource is a chart as source-controller packages it for helm-controller.
type chartSource struct {
	archive []byte

	// metadata returns the build metadata that the controllers append to the chart's
	// version, "" for none. Some of it only the cluster knows: guess is put in its place.
	metadata func(guess string) string
}

// load reads the chart anew: rendering changes a chart.
func (c chartSource) load(guess string) (*chart.Chart, error) {
	ch, err := loader.LoadArchive(bytes.NewReader(c.archive))
	if err != nil {
		return nil, err
	}
	if c.metadata == nil {
		return ch, nil
	}
	if m := c.metadata(guess); m != "" {
		version, err := semver.NewVersion(ch.Metadata.Version)
		if err != nil {
			return nil, fmt.Errorf("version %q of chart %s: %w", ch.Metadata.Version, ch.Name(), err)
		}
		*version, err = version.SetMetadata(m)
		if err != nil {
			return nil, err
		}
		ch.Metadata.Version = version.String()
	}
	return ch, nil
}

// source finds and gets the release's chart.
func (r *Release) source(ctx context.Context) (chartSource, error) {
	for _, key := range []string{r.Namespace + "/" + r.Name, r.Name} {
		if ref, ok := r.set.options.Charts[key]; ok {
			return r.overridden(ctx, ref)
		}
	}
	switch ref := r.spec.ChartRef; {
	case ref != nil && r.spec.Chart != nil:
		return chartSource{}, fieldErrorf("spec", "chart and chartRef are both there, and the cluster takes either: take one out")
	case r.IsPatch && r.namesNoChart():
		return chartSource{}, errors.New("names no chart (spec.chart, spec.chartRef): it is a patch; stamp the overlay that uses it with --kustomization")
	case ref == nil:
		c := r.spec.Chart.Spec
		namespace := c.SourceRef.Namespace
		if namespace == "" {
			namespace = r.Namespace
		}
		return r.fromChartSpec(ctx, "spec.chart.spec", c, namespace)
	case ref.Kind == "":
		return chartSource{}, fieldErrorf("spec.chartRef.kind", "is missing: OCIRepository or HelmChart")
	case ref.Name == "":
		return chartSource{}, fieldErrorf("spec.chartRef.name", "is missing: the %s that is meant", ref.Kind)
	case ref.Kind == "OCIRepository":
		return r.fromOCIRepository(ctx, ref)
	case ref.Kind == "HelmChart":
		o, err := r.referred("spec.chartRef", ref.Kind, r.namespaceOf(ref), ref.Name, "--chart "+r.id()+"=PATH gives the release another chart")
		if err != nil {
			return chartSource{}, err
		}
		var c chartSpec
		if err := decode(o.content["spec"], &c); err != nil {
			return chartSource{}, fmt.Errorf("HelmChart %s (%s): spec%w", ref.Name, o.place(), err)
		}
		return r.fromChartSpec(ctx, "HelmChart "+ref.Name+" ("+o.place()+"): spec", c, r.namespaceOf(ref))
	default:
		return chartSource{}, fieldErrorf("spec.chartRef.kind",
			"%s is only known in the cluster; --chart %s=PATH says which chart it is", ref.Kind, r.id())
	}
}

func (r *Release) namespaceOf(ref *objectRef) string {
	if ref.Namespace != "" {
		return ref.Namespace
	}
	return r.Namespace
}

// referred finds an object that a field refers to; remedy says what to do without it.
func (r *Release) referred(field, kind, namespace, name, remedy string) (*object, error) {
	o, err := r.find(kind, namespace, name)
	if errors.Is(err, errNotFound) {
		return nil, fieldErrorf(field, "%s %s %s; %s", kind, name, r.missingReason(kind, namespace, name), remedy)
	}
	if err != nil {
		return nil, fieldErrorf(field, "%s %s %w; name the one that counts under the paths alone, or %s", kind, name, err, remedy)
	}
	return o, nil
}

// overridden returns the chart of --chart: a directory, an archive or an oci:// reference.
func (r *Release) overridden(ctx context.Context, ref string) (chartSource, error) {
	var c chartSpec
	if r.spec.Chart != nil {
		c = r.spec.Chart.Spec
	}
	if strings.HasPrefix(ref, ociScheme) {
		name, tag, err := r.taggedRepository(ctx, ref, c.Version)
		if err != nil {
			return chartSource{}, fmt.Errorf("--chart %s: %w", ref, err)
		}
		pulled, err := r.set.downloads.pullChart(ctx, name, tag, helmChartLayer)
		if err != nil {
			return chartSource{}, fmt.Errorf("--chart %s: %w", ref, err)
		}
		return r.withValuesFiles(ref, pulled.content, c)
	}
	path, err := filepath.Abs(ref)
	if err != nil {
		return chartSource{}, err
	}
	root := gitRoot(path)
	if root == "" {
		root = filepath.Dir(path)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return chartSource{}, err
	}
	source, err := r.fromDirectory(ctx, root, rel, c, r.Namespace)
	if err != nil {
		return chartSource{}, fmt.Errorf("--chart %s: %w", ref, err)
	}
	return source, nil
}

// fromChartSpec gets the chart of a HelmChart, or of the one that a HelmRelease makes.
// namespace is where its source is.
func (r *Release) fromChartSpec(ctx context.Context, field string, c chartSpec, namespace string) (chartSource, error) {
	if c.Chart == "" {
		return chartSource{}, fieldErrorf(field+".chart", "is missing: the chart's name, or its path in the source")
	}
	ref := c.SourceRef
	if ref.Name == "" {
		return chartSource{}, fieldErrorf(field+".sourceRef.name", "is missing: the source that holds the chart")
	}
	switch ref.Kind {
	case "GitRepository", "Bucket":
		dir, err := r.sourceDirectory(ref, namespace)
		if err != nil {
			return chartSource{}, &fieldError{field: field + ".sourceRef", err: err}
		}
		source, err := r.fromDirectory(ctx, dir, c.Chart, c, namespace)
		if err != nil {
			return chartSource{}, &fieldError{field: field, err: fmt.Errorf("%w (%s %s is taken to be %s; --source %s/%s=DIR says where else)",
				err, ref.Kind, ref.Name, dir, ref.Kind, ref.Name)}
		}
		return source, nil
	case "HelmRepository":
		o, err := r.referred(field+".sourceRef", ref.Kind, namespace, ref.Name, "put it there, or --chart "+r.id()+"=PATH gives the release another chart")
		if err != nil {
			return chartSource{}, err
		}
		repository, err := r.helmRepository(o)
		if err != nil {
			return chartSource{}, err
		}
		content, err := repository.chart(ctx, r.set.downloads, c.Chart, c.Version)
		if err != nil {
			return chartSource{}, &fieldError{field: field, err: err}
		}
		return r.withValuesFiles(field, content, c)
	}
	return chartSource{}, fieldErrorf(field+".sourceRef.kind", "%q is none; it may be GitRepository, Bucket or HelmRepository", ref.Kind)
}

// sourceDirectory returns the directory that has the content of a GitRepository or Bucket.
func (r *Release) sourceDirectory(ref objectRef, namespace string) (string, error) {
	for _, key := range []string{
		ref.Kind + "/" + namespace + "/" + ref.Name,
		ref.Kind + "/" + ref.Name,
	} {
		dir, ok := r.set.options.Sources[key]
		if !ok {
			continue
		}
		if !isDir(dir) {
			return "", fmt.Errorf("--source %s=%s: no such directory", key, dir)
		}
		return filepath.Abs(dir)
	}
	if root := gitRoot(r.dir); root != "" {
		return root, nil
	}
	return "", fmt.Errorf("%s is in no Git repository; --source %s/%s=DIR says where the content of the %s is",
		r.Path, ref.Kind, ref.Name, ref.Kind)
}

// guessedVersion returns the part of a packaged chart's version that only the cluster
// knows: a Git revision, and the generation of the HelmChart where it has values files.
func guessedVersion(c chartSpec, fromGit bool) func(string) string {
	revision := fromGit && c.ReconcileStrategy == "Revision"
	generation := len(c.files()) > 0
	switch {
	case revision && generation:
		return func(guess string) string { return strings.Repeat(guess, 12) + "." + guess }
	case revision:
		return func(guess string) string { return strings.Repeat(guess, 12) }
	case generation:
		return func(guess string) string { return guess }
	}
	return nil
}
