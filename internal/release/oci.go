package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
	"helm.sh/helm/v4/pkg/registry"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	orascredentials "oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/errcode"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	ociScheme      = "oci://"
	helmChartLayer = registry.ChartLayerMediaType
)

// An ociRepository is one repository in a registry, with its credentials.
type ociRepository struct {
	name        string // HOST/PATH
	insecure    bool
	credentials credentials
}

// key tells repositories with different credentials apart.
func (r ociRepository) key() string {
	return fmt.Sprintf("%s %v %s %s", r.name, r.insecure, r.credentials.username, sha256Hex(r.credentials.dockerConfig))
}

// A pulled chart is its archive with the digest of the manifest that it came with.
type pulled struct {
	content []byte
	digest  string // sha256:...
}

// ociChart returns a chart of a HelmRepository of type oci: a version is a tag, a range
// the latest tag in it (source-controller, oci_chart_repository.go).
func (h *helmRepository) ociChart(ctx context.Context, d *downloads, name, version string) ([]byte, error) {
	repository := ociRepository{
		name:     path.Join(strings.TrimPrefix(h.url, ociScheme), name),
		insecure: h.insecure, credentials: h.credentials,
	}
	tag := version
	if _, err := parseVersion(version); err != nil {
		if tag, err = d.latestTag(ctx, repository, version, "", helmChartLayer); err != nil {
			return nil, ociChartField(err, "version")
		}
	}
	p, err := d.pullChart(ctx, repository, tagOfVersion(tag), helmChartLayer)
	var noReference *noReferenceError
	var noRepository *noRepositoryError
	if errors.As(err, &noReference) || errors.As(err, &noRepository) {
		err = ociChartField(err, "version")
	}
	return p.content, err
}

// ociChartField says which field of the chart an error is about: where there is no
// repository of that name, the chart's.
func ociChartField(err error, field string) error {
	if absent := (*noRepositoryError)(nil); errors.As(err, &absent) {
		field = "chart"
	}
	return &fieldError{field: field, err: err}
}

// A registry allows no + in a tag; Helm writes _ for it.
func tagOfVersion(version string) string { return strings.ReplaceAll(version, "+", "_") }
func versionOfTag(tag string) string     { return strings.ReplaceAll(tag, "_", "+") }

// taggedRepository splits oci://HOST/PATH:TAG or @DIGEST; without either the latest in a
// version range counts.
func (r *Release) taggedRepository(ctx context.Context, ref, version string) (ociRepository, string, error) {
	name := strings.TrimPrefix(ref, ociScheme)
	if name, digest, ok := strings.Cut(name, "@"); ok {
		name, _, _ = cutTag(name)
		return ociRepository{name: name}, digest, nil
	}
	name, tag, ok := cutTag(name)
	repository := ociRepository{name: name, insecure: isLoopback(name)}
	if ok {
		return repository, tagOfVersion(tag), nil
	}
	tag, err := r.set.downloads.latestTag(ctx, repository, version, "", helmChartLayer)
	return repository, tagOfVersion(tag), err
}

func cutTag(name string) (repository, tag string, ok bool) {
	i := strings.LastIndexByte(name, ':')
	if i < strings.LastIndexByte(name, '/') { // the colon, if any, is a port's
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

// isLoopback says whether a reference is to this machine, which Helm and Docker take to
// be plain HTTP.
func isLoopback(name string) bool {
	host, _, _ := strings.Cut(name, "/")
	host, _, _ = strings.Cut(host, ":")
	return host == "localhost" || strings.HasPrefix(host, "127.")
}

// fromOCIRepository gets the chart of an OCIRepository. helm-controller appends the first
// digits of the digest to the chart's version (mutateChartWithSourceRevision).
func (r *Release) fromOCIRepository(ctx context.Context, ref *objectRef) (chartSource, error) {
	o, err := r.referred("spec.chartRef", ref.Kind, r.namespaceOf(ref), ref.Name, "put it there, or --chart "+r.id()+"=PATH gives the release another chart")
	if err != nil {
		return chartSource{}, err
	}
	source, err := r.fromOCIObject(ctx, o)
	if err != nil {
		return chartSource{}, fmt.Errorf("OCIRepository %s (%s): %w", o.name, o.place(), err)
	}
	return source, nil
}

func (r *Release) fromOCIObject(ctx context.Context, o *object) (chartSource, error) {
	var spec struct {
		URL string `json:"url"`
		Ref struct {
			Tag          string `json:"tag"`
			SemVer       string `json:"semver"`
			SemverFilter string `json:"semverFilter"`
			Digest       string `json:"digest"`
		} `json:"ref"`
		LayerSelector struct {
			MediaType string `json:"mediaType"`
		} `json:"layerSelector"`
		Insecure      bool       `json:"insecure"`
		SecretRef     *objectRef `json:"secretRef"`
		CertSecretRef *objectRef `json:"certSecretRef"`
	}
	if err := decode(o.content["spec"], &spec); err != nil {
		return chartSource{}, fmt.Errorf("spec%w", err)
	}
	name, ok := strings.CutPrefix(spec.URL, ociScheme)
	if !ok {
		return chartSource{}, fieldErrorf("spec.url", "want oci://HOST/PATH, found %q", spec.URL)
	}
	if _, tag, tagged := cutTag(name); tagged {
		return chartSource{}, fieldErrorf("spec.url", "must have no tag; put %s in spec.ref.tag", tag)
	}
	repository := ociRepository{name: name, insecure: spec.Insecure}
	for _, ref := range []*objectRef{spec.SecretRef, spec.CertSecretRef} {
		if ref != nil {
			r.readCredentials(&repository.credentials, o.namespace, ref.Name)
		}
	}
	d := r.set.downloads
	tag, field := "latest", "spec.ref"
	switch {
	case spec.Ref.Digest != "":
		tag, field = spec.Ref.Digest, "spec.ref.digest"
	case spec.Ref.SemVer != "":
		var err error
		if tag, err = d.latestTag(ctx, repository, spec.Ref.SemVer, spec.Ref.SemverFilter, spec.LayerSelector.MediaType); err != nil {
			return chartSource{}, fieldErrorf("spec.ref.semver", "%w", err)
		}
		field = "spec.ref.semver"
	case spec.Ref.Tag != "":
		tag, field = spec.Ref.Tag, "spec.ref.tag"
	}
	p, err := d.pullChart(ctx, repository, tag, spec.LayerSelector.MediaType)
	if absent := (*noRepositoryError)(nil); errors.As(err, &absent) {
		field = "spec.url"
	}
	if err != nil {
		return chartSource{}, fieldErrorf(field, "%w", err)
	}
	source := chartSource{archive: p.content}
	ch, err := source.load("")
	if err != nil {
		return chartSource{}, fmt.Errorf("%s:%s is no chart: %w; spec.layerSelector.mediaType says which layer is", name, tag, err)
	}
	// helm-controller refuses a tag that is another version than the chart's.
	if wanted, err := semver.NewVersion(versionOfTag(tag)); err == nil {
		if has, err := semver.NewVersion(ch.Metadata.Version); err != nil || !wanted.Equal(has) {
			return chartSource{}, fieldErrorf("spec.ref", "the tag %s holds a chart of version %s, which helm-controller refuses", tag, ch.Metadata.Version)
		}
	}
	const digits = 12
	_, sum, _ := strings.Cut(p.digest, ":")
	source.metadata = func(string) string { return sum[:digits] }
	return source, nil
}

// client returns a client for a repository: with the credentials of its Secret, else
// those of helm registry login, else Docker's.
func (d *downloads) client(r ociRepository) (*remote.Repository, error) {
	repository, err := remote.NewRepository(r.name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	repository.PlainHTTP = r.insecure
	transport, err := r.credentials.transport()
	if err != nil {
		return nil, fmt.Errorf("TLS settings of %s: %w", r.name, err)
	}
	credential, err := d.registryCredentials(r)
	if err != nil {
		return nil, err
	}
	repository.Client = &auth.Client{
		Client:     &http.Client{Transport: transport, Timeout: httpTimeout},
		Header:     http.Header{"User-Agent": {"helm-checksum"}},
		Cache:      auth.NewCache(),
		Credential: credential,
	}
	return repository, nil
}

func (d *downloads) registryCredentials(r ociRepository) (auth.CredentialFunc, error) {
	host, _, _ := strings.Cut(r.name, "/")
	switch c := r.credentials; {
	case c.username != "":
		return auth.StaticCredential(host, auth.Credential{Username: c.username, Password: c.password}), nil
	case c.dockerConfig != nil:
		store, err := orascredentials.NewMemoryStoreFromDockerConfig(c.dockerConfig)
		if err != nil {
			return nil, errors.New("the .dockerconfigjson of its Secret can't be read")
		}
		return orascredentials.Credential(store), nil
	}
	store, err := orascredentials.NewStore(d.settings.RegistryConfig, orascredentials.StoreOptions{})
	if err != nil {
		return nil, fmt.Errorf("the credentials of helm registry login: %w", err)
	}
	docker, err := orascredentials.NewStoreFromDocker(orascredentials.StoreOptions{})
	if err != nil { // no Docker configuration is no error: this one can't be read, and need not be
		return orascredentials.Credential(store), nil
	}
	return orascredentials.Credential(orascredentials.NewStoreWithFallbacks(store, docker)), nil
}

// tags returns all tags of a repository.
func (d *downloads) tags(ctx context.Context, r ociRepository) ([]string, error) {
	list, err := d.once("tags:"+r.key(), func() ([]byte, error) {
		client, err := d.client(r)
		if err != nil {
			return nil, err
		}
		var all []string
		err = client.Tags(ctx, "", func(tags []string) error {
			all = append(all, tags...)
			return nil
		})
		if err != nil {
			return nil, r.explain(err)
		}
		return json.Marshal(all)
	})
	if err != nil {
		return nil, err
	}
	var tags []string
	err = json.Unmarshal(list, &tags)
	return tags, err
}

// latestTag returns the highest tag in a version range. Only tags of charts write + as _.
func (d *downloads) latestTag(ctx context.Context, r ociRepository, wanted, filter, mediaType string) (string, error) {
	tags, err := d.tags(ctx, r)
	if err != nil {
		return "", err
	}
	match, err := regexp.Compile(filter)
	if err != nil {
		return "", fmt.Errorf("semverFilter %q: %w", filter, err)
	}
	var fitting, versions []string
	for _, tag := range tags {
		if !match.MatchString(tag) {
			continue
		}
		version := tag
		if mediaType == helmChartLayer {
			version = versionOfTag(tag)
		}
		fitting, versions = append(fitting, tag), append(versions, version)
	}
	i, err := latest(versions, wanted, func(int, int) bool { return false })
	if err != nil {
		return "", err
	}
	if i < 0 {
		return "", fmt.Errorf("%s has no tag that matches %q; it has %s", r.name, wanted, some(tags))
	}
	return fitting[i], nil
}

// pullChart gets one layer of what a tag or digest names: the one of a media type, or the
// first where that is "". Everything is checked against the manifest's digests.
func (d *downloads) pullChart(ctx context.Context, r ociRepository, reference, mediaType string) (pulled, error) {
	client, err := d.client(r)
	if err != nil {
		return pulled{}, err
	}
	text, err := d.once("manifest:"+r.key()+" "+reference, func() ([]byte, error) {
		descriptor, err := client.Resolve(ctx, reference)
		if errors.Is(err, errdef.ErrNotFound) {
			return nil, d.missing(ctx, r, reference)
		}
		if err != nil {
			return nil, r.explain(err)
		}
		manifest, err := content.FetchAll(ctx, client, descriptor)
		if err != nil {
			return nil, r.explain(err)
		}
		return manifest, nil
	})
	if err != nil {
		return pulled{}, err
	}
	var manifest ocispec.Manifest
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&manifest); err != nil {
		return pulled{}, fmt.Errorf("the manifest of %s:%s: %w", r.name, reference, err)
	}
	layer, err := layerOf(manifest, mediaType)
	if err != nil {
		return pulled{}, fmt.Errorf("%s:%s %w", r.name, reference, err)
	}
	if layer.Size > maxChartSize {
		return pulled{}, fmt.Errorf("%s:%s is larger than %d bytes, which source-controller refuses", r.name, reference, maxChartSize)
	}
	p := pulled{digest: "sha256:" + sha256Hex(text)}
	p.content, err = d.once("layer:"+r.key()+" "+layer.Digest.String(), func() ([]byte, error) {
		return d.verified(layer.Digest.String(), r.name+":"+reference, func() ([]byte, error) {
			blob, err := content.FetchAll(ctx, client, layer)
			if err != nil {
				return nil, r.explain(err)
			}
			return blob, nil
		})
	})
	return p, err
}

func layerOf(manifest ocispec.Manifest, mediaType string) (ocispec.Descriptor, error) {
	if len(manifest.Layers) == 0 {
		return ocispec.Descriptor{}, errors.New("has no layers: it is no chart")
	}
	var found []string
	for _, layer := range manifest.Layers {
		if mediaType == "" || layer.MediaType == mediaType ||
			mediaType == helmChartLayer && layer.MediaType == registry.LegacyChartLayerMediaType {
			return layer, nil
		}
		found = append(found, layer.MediaType)
	}
	return ocispec.Descriptor{}, fmt.Errorf("has no layer of type %s; it has %s", mediaType, strings.Join(found, ", "))
}

// A noRepositoryError says that a registry does not know the repository at all.
type noRepositoryError struct{ name string }

func (e *noRepositoryError) Error() string {
	return fmt.Sprintf("there is no repository %s: look at the source's spec.url and at the chart's name", e.name)
}

// missing is the error about a tag or digest that a repository does not have.
func (d *downloads) missing(ctx context.Context, r ociRepository, reference string) error {
	tags, err := d.tags(ctx, r)
	if err != nil {
		return err // it may not have the repository
	}
	return &noReferenceError{r.name, reference, tags}
}

// A noReferenceError says that a repository lacks a tag or digest.
type noReferenceError struct {
	name, reference string
	tags            []string // that it has
}

func (e *noReferenceError) Error() string {
	return fmt.Sprintf("%s has no %s; it has the tags %s", e.name, e.reference, some(e.tags))
}

// explain adds the remedy to a registry's refusal.
func (r ociRepository) explain(err error) error {
	response := (*errcode.ErrorResponse)(nil)
	if errors.As(err, &response) && response.StatusCode == http.StatusNotFound {
		return &noRepositoryError{r.name}
	}
	refused := errors.As(err, &response) && (response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden)
	if refused || errors.Is(err, auth.ErrBasicCredentialNotFound) {
		host, _, _ := strings.Cut(r.name, "/")
		return fmt.Errorf("%s: the registry wants (other) credentials; `helm registry login %s` gives them", r.name, host)
	}
	return reached(fmt.Errorf("%s: %w", r.name, err))
}
