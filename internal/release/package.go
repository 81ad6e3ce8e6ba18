package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	securejoin "github.com/cyphar/filepath-securejoin"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"sigs.k8s.io/yaml"
)

// fromDirectory packages the chart at a path in a source, as source-controller does for a
// GitRepository (internal/helm/chart, builder_local.go): values files are relative to the
// source, and dependencies that are not vendored are got. The source is not written to.
func (r *Release) fromDirectory(ctx context.Context, root, path string, c chartSpec, namespace string) (chartSource, error) {
	name, err := securejoin.SecureJoin(root, path)
	if err != nil {
		return chartSource{}, err
	}
	key := strings.Join(append([]string{name, namespace, fmt.Sprint(c.IgnoreMissingValuesFiles)}, c.files()...), "\x00")
	archive, err := r.set.downloads.once("package:"+key, func() ([]byte, error) {
		if isFile(name) && len(c.files()) == 0 {
			return os.ReadFile(name)
		}
		return r.packageDirectory(ctx, root, path, name, c, namespace)
	})
	return chartSource{archive: archive, metadata: guessedVersion(c, true)}, err
}

func (r *Release) packageDirectory(ctx context.Context, root, path, name string, c chartSpec, namespace string) ([]byte, error) {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no chart at %s in %s", path, root)
	}
	if isDir(name) && !isChart(name) {
		return nil, fmt.Errorf("%s in %s is no chart: it has no Chart.yaml", path, root)
	}
	ch, err := loader.Load(name)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", path, err)
	}
	if files := c.files(); len(files) > 0 {
		values, err := readValuesFiles(files, c.IgnoreMissingValuesFiles, func(file string) ([]byte, error) {
			full, err := securejoin.SecureJoin(root, file)
			if err != nil {
				return nil, err
			}
			return os.ReadFile(full)
		})
		if err != nil {
			return nil, err
		}
		if err := setDefaultValues(ch, values); err != nil {
			return nil, err
		}
	}
	if isDir(name) {
		if err := r.addDependencies(ctx, root, path, ch, namespace); err != nil {
			return nil, err
		}
	}
	return save(ch)
}

// withValuesFiles packages a chart that was downloaded anew if it has values files, which
// are files in the chart (source-controller, builder_remote.go).
func (r *Release) withValuesFiles(field string, archive []byte, c chartSpec) (chartSource, error) {
	files := c.files()
	if len(files) == 0 {
		return chartSource{archive: archive}, nil
	}
	ch, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return chartSource{}, &fieldError{field: field, err: err}
	}
	values, err := readValuesFiles(files, c.IgnoreMissingValuesFiles, func(file string) ([]byte, error) {
		for _, f := range ch.Raw {
			if f.Name == filepath.ToSlash(filepath.Clean(file)) {
				return f.Data, nil
			}
		}
		return nil, fs.ErrNotExist
	})
	if err != nil {
		return chartSource{}, &fieldError{field: field, err: err}
	}
	if err := setDefaultValues(ch, values); err != nil {
		return chartSource{}, &fieldError{field: field, err: err}
	}
	archive, err = save(ch)
	if err != nil {
		return chartSource{}, &fieldError{field: field, err: err}
	}
	return chartSource{archive: archive, metadata: guessedVersion(c, false)}, nil
}

// readValuesFiles merges values files in order.
func readValuesFiles(files []string, ignoreMissing bool, read func(string) ([]byte, error)) (map[string]any, error) {
	merged := map[string]any{}
	for i, file := range files {
		data, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			if ignoreMissing {
				continue
			}
			return nil, fmt.Errorf("valuesFiles[%d]: %s does not exist (with ignoreMissingValuesFiles: true it need not)", i, file)
		}
		if err != nil {
			return nil, fmt.Errorf("valuesFiles[%d]: %w", i, err)
		}
		values := map[string]any{}
		if err := yaml.Unmarshal(data, &values); err != nil {
			return nil, fmt.Errorf("valuesFiles[%d]: %s: %w", i, file, err)
		}
		merged = mergeMaps(merged, values)
	}
	return merged, nil
}

// setDefaultValues replaces a chart's values.yaml.
func setDefaultValues(ch *chart.Chart, values map[string]any) error {
	var text bytes.Buffer
	if len(values) > 0 {
		if err := common.Values(values).Encode(&text); err != nil {
			return err
		}
	}
	for _, f := range ch.Raw {
		if f.Name == chartutil.ValuesfileName {
			f.Data = text.Bytes()
			ch.Values = values
			return nil
		}
	}
	return fmt.Errorf("chart %s has no values.yaml, which source-controller needs for valuesFiles", ch.Name())
}

// save packages a chart and returns the archive.
func save(ch *chart.Chart) ([]byte, error) {
	dir, err := os.MkdirTemp("", "helm-checksum-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name, err := chartutil.Save(ch, dir)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", ch.Name(), err)
	}
	return os.ReadFile(name)
}

// addDependencies adds the dependencies that are not in charts/, as source-controller does
// (internal/helm/chart, dependency_manager.go): those of Chart.lock where there is one.
func (r *Release) addDependencies(ctx context.Context, root, path string, ch *chart.Chart, namespace string) error {
	wanted := ch.Metadata.Dependencies
	if ch.Lock != nil {
		wanted = ch.Lock.Dependencies
	}
	if len(ch.Dependencies()) == len(wanted) {
		return nil
	}
	vendored := map[string]bool{}
	for _, d := range ch.Dependencies() {
		vendored[d.Name()] = true
	}
	for _, d := range wanted {
		name := d.Name
		if d.Alias != "" {
			name = d.Alias
		}
		if vendored[name] {
			continue
		}
		dependency, err := r.dependency(ctx, root, path, d, namespace)
		if err != nil {
			return fmt.Errorf("dependency %s of chart %s: %w", name, ch.Name(), err)
		}
		if d.Alias != "" {
			dependency.Metadata.Name = d.Alias
		}
		ch.AddDependency(dependency)
	}
	return nil
}

func (r *Release) dependency(ctx context.Context, root, path string, d *chart.Dependency, namespace string) (*chart.Chart, error) {
	switch {
	case d.Repository == "" || strings.HasPrefix(d.Repository, "file://"):
		return localDependency(root, path, d)
	case strings.HasPrefix(d.Repository, ociScheme), strings.HasPrefix(d.Repository, "https://"), strings.HasPrefix(d.Repository, "http://"):
		repository, err := r.repositoryFor(d.Repository, namespace)
		if err != nil {
			return nil, err
		}
		content, err := repository.chart(ctx, r.set.downloads, d.Name, d.Version)
		if err != nil {
			return nil, err
		}
		return loader.LoadArchive(bytes.NewReader(content))
	}
	return nil, fmt.Errorf("repository %s: Flux resolves file://, http://, https:// and oci:// only; or vendor it in charts/", d.Repository)
}

func localDependency(root, path string, d *chart.Dependency) (*chart.Chart, error) {
	rel := filepath.Join(path, "charts", d.Name)
	if d.Repository != "" {
		u, err := url.Parse(d.Repository)
		if err != nil {
			return nil, err
		}
		rel = filepath.Join(path, u.Host, u.Path)
	}
	name, err := securejoin.SecureJoin(root, rel)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("no chart at %s in %s", rel, root)
	}
	constraint, err := semver.NewConstraint(d.Version)
	if err != nil {
		return nil, fmt.Errorf("version %q: %w", d.Version, err)
	}
	ch, err := loader.Load(name)
	if err != nil {
		return nil, err
	}
	version, err := semver.NewVersion(ch.Metadata.Version)
	if err != nil {
		return nil, err
	}
	if !constraint.Check(version) {
		return nil, fmt.Errorf("%s has version %s, wanted is %s", rel, version, d.Version)
	}
	return ch, nil
}

// repositoryFor returns the HelmRepository of a URL, for its credentials, else one
// without any (source-controller, resolveDependencyRepository).
func (r *Release) repositoryFor(address, namespace string) (*helmRepository, error) {
	for _, ix := range []*index{r.set.named, r.set.root(r.dir)} {
		for _, objects := range ix.sorted() {
			for _, o := range objects {
				spec, _ := o.content["spec"].(map[string]any)
				if o.kind == "HelmRepository" && spec["url"] == address && (o.namespace == namespace || o.namespace == "") {
					return r.helmRepository(o)
				}
			}
		}
	}
	return &helmRepository{url: address}, nil
}
