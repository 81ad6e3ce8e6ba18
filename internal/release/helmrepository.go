package release

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	repo "helm.sh/helm/v4/pkg/repo/v1"
)

// A helmRepository is where a HelmRepository object points to, with its credentials.
type helmRepository struct {
	name            string // for messages; empty when no object describes it
	url             string
	insecure        bool // plain HTTP for OCI
	passCredentials bool
	credentials     credentials
}

// credentials are what a Secret in Git gives for a source.
type credentials struct {
	username, password string
	dockerConfig       []byte
	certPEM, keyPEM    []byte
	caPEM              []byte
	insecureSkipVerify bool
}

const (
	httpTimeout  = 60 * time.Second // source-controller's default
	maxIndexSize = 50 << 20         // source-controller's limits (internal/helm)
	maxChartSize = 10 << 20
)

// helmRepository reads a HelmRepository object and the Secrets it refers to.
func (r *Release) helmRepository(o *object) (*helmRepository, error) {
	var spec struct {
		URL             string     `json:"url"`
		Type            string     `json:"type"`
		Insecure        bool       `json:"insecure"`
		PassCredentials bool       `json:"passCredentials"`
		SecretRef       *objectRef `json:"secretRef"`
		CertSecretRef   *objectRef `json:"certSecretRef"`
	}
	what := fmt.Sprintf("HelmRepository %s (%s)", o.name, o.place())
	if err := decode(o.content["spec"], &spec); err != nil {
		return nil, fmt.Errorf("%s: spec%w", what, err)
	}
	u, err := url.Parse(spec.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%s: spec.url: %q is no URL; it may be http://, https:// or oci://", what, spec.URL)
	}
	switch isOCI := u.Scheme == "oci"; {
	case isOCI != (spec.Type == "oci"):
		return nil, fmt.Errorf("%s: spec.url %s and spec.type %q do not go together: type: oci is for oci:// and no other", what, spec.URL, spec.Type)
	case !isOCI && u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s: spec.url: want http://, https:// or oci://, found %s", what, spec.URL)
	}
	repository := &helmRepository{name: what, url: spec.URL, insecure: spec.Insecure, passCredentials: spec.PassCredentials}
	for _, ref := range []*objectRef{spec.SecretRef, spec.CertSecretRef} {
		if ref != nil {
			r.readCredentials(&repository.credentials, o.namespace, ref.Name)
		}
	}
	return repository, nil
}

// readCredentials reads the Secret of a source, when it can be read: an encrypted or
// absent one is not needed where Helm itself has credentials.
func (r *Release) readCredentials(c *credentials, namespace, name string) {
	secret, content, err := r.suppliedValues(valuesRef{Kind: "Secret", Name: name})
	if err != nil || content != "" {
		return
	}
	if secret == nil {
		secret, err = r.find("Secret", namespace, name)
	}
	if err != nil || secret.unusable != "" {
		return
	}
	get := func(keys ...string) []byte {
		for _, key := range keys {
			if v, ok, err := dataOf(secret, key); ok && err == nil {
				return []byte(v)
			}
		}
		return nil
	}
	if user := get("username"); user != nil {
		c.username, c.password = string(user), string(get("password"))
	}
	if config := get(".dockerconfigjson"); config != nil {
		c.dockerConfig = config
	}
	if ca := get("ca.crt", "caFile"); ca != nil {
		c.caPEM = ca
	}
	if cert := get("tls.crt", "certFile"); cert != nil {
		c.certPEM, c.keyPEM = cert, get("tls.key", "keyFile")
	}
}

// chartName is source-controller's rule for a chart in a repository (RemoteReference).
var chartName = regexp.MustCompile(`^([-a-z0-9]+/?\.?)+$`)

// chart returns the archive of a chart: of the version, or the latest in the range.
func (h *helmRepository) chart(ctx context.Context, d *downloads, name, version string) ([]byte, error) {
	if !chartName.MatchString(name) {
		return nil, fieldErrorf("chart", "%q is no name for a chart in a repository: lower case letters, digits, dashes, slashes and periods", name)
	}
	if strings.HasPrefix(h.url, ociScheme) {
		return h.ociChart(ctx, d, name, version)
	}
	index, err := h.index(ctx, d)
	if err != nil {
		return nil, err
	}
	entries, ok := index.Entries[name]
	if !ok || len(entries) == 0 {
		return nil, fieldErrorf("chart", "repository %s has no chart %s; it has %s", h.url, name, some(slices.Sorted(maps.Keys(index.Entries))))
	}
	var versions []string
	for _, e := range entries {
		versions = append(versions, e.Version)
	}
	i, err := latest(versions, version, func(i, j int) bool { return entries[j].Created.Before(entries[i].Created) })
	if err != nil {
		return nil, fieldErrorf("version", "%w", err)
	}
	if i < 0 {
		return nil, fieldErrorf("version", "repository %s has no version of chart %s that matches %q; it has %s", h.url, name, version, some(versions))
	}
	entry := entries[i]
	if len(entry.URLs) == 0 {
		return nil, fmt.Errorf("the index of %s has no URL for %s %s", h.url, name, entry.Version)
	}
	address, err := repo.ResolveReferenceURL(h.url, entry.URLs[0])
	if err != nil {
		return nil, err
	}
	return d.once("chart:"+h.key()+address+entry.Digest, func() ([]byte, error) {
		return d.verified(entry.Digest, address, func() ([]byte, error) { return h.get(ctx, d, address, maxChartSize) })
	})
}

// some lists the first few versions or names.
func some(all []string) string {
	const most = 10
	switch {
	case len(all) == 0:
		return "none"
	case len(all) > most:
		return strings.Join(all[:most], ", ") + " and others"
	}
	return strings.Join(all, ", ")
}

// key tells repositories with different credentials apart.
func (h *helmRepository) key() string { return h.name + "\x00" + h.url + "\x00" }

func (h *helmRepository) index(ctx context.Context, d *downloads) (*repo.IndexFile, error) {
	u, err := url.Parse(h.url)
	if err != nil {
		return nil, err
	}
	u.Path, u.RawPath = path.Join("/", u.Path, "index.yaml"), ""
	content, err := d.once("index:"+h.key(), func() ([]byte, error) { return h.get(ctx, d, u.String(), maxIndexSize) })
	if err != nil {
		return nil, err
	}
	// Helm reads an index from a file only.
	f, err := os.CreateTemp("", "helm-checksum-index-*.yaml")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	index, err := repo.LoadIndexFile(f.Name())
	if err != nil {
		return nil, fmt.Errorf("the index of %s can't be read: %w", h.url, errors.Unwrap(err))
	}
	return index, nil
}

// get downloads from the repository, with the credentials of its Secret, else those that
// Helm's own repository configuration (helm repo add) has for it.
func (h *helmRepository) get(ctx context.Context, d *downloads, address string, limit int64) ([]byte, error) {
	c, passAll, err := h.httpCredentials(d)
	if err != nil {
		return nil, err
	}
	transport, err := c.transport()
	if err != nil {
		return nil, fmt.Errorf("TLS settings of %s: %w", h.url, err)
	}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "helm-checksum")
	if c.username != "" && (passAll || sameHost(h.url, address)) {
		request.SetBasicAuth(c.username, c.password)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, reached(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		remedy := "no credentials were found: `helm repo add NAME " + h.url + " --username ...` gives them, or --values-from Secret/NAME=FILE the Secret of its secretRef"
		if c.username != "" {
			remedy = "the credentials that were found are not accepted"
		}
		return nil, fmt.Errorf("GET %s: %s; %s", address, response.Status, remedy)
	default:
		return nil, fmt.Errorf("GET %s: %s", address, response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", address, err)
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("GET %s: larger than %d bytes, which source-controller refuses", address, limit)
	}
	return content, nil
}

// httpCredentials falls back to Helm's repository configuration.
func (h *helmRepository) httpCredentials(d *downloads) (c credentials, passAll bool, err error) {
	c, passAll = h.credentials, h.passCredentials
	if c.username != "" || c.certPEM != nil {
		return c, passAll, nil
	}
	file, err := repo.LoadFile(d.settings.RepositoryConfig)
	if err != nil { // there is none
		return c, passAll, nil
	}
	for _, e := range file.Repositories {
		if strings.TrimRight(e.URL, "/") != strings.TrimRight(h.url, "/") {
			continue
		}
		c.username, c.password, c.insecureSkipVerify = e.Username, e.Password, e.InsecureSkipTLSVerify
		for _, f := range []struct {
			name string
			into *[]byte
		}{{e.CertFile, &c.certPEM}, {e.KeyFile, &c.keyPEM}, {e.CAFile, &c.caPEM}} {
			if f.name == "" {
				continue
			}
			if *f.into, err = os.ReadFile(f.name); err != nil {
				return c, passAll, fmt.Errorf("%s of Helm's repository %s: %w", h.url, e.Name, err)
			}
		}
		return c, passAll || e.PassCredentialsAll, nil
	}
	return c, passAll, nil
}

// transport returns what http.DefaultTransport is, with the certificates.
func (c credentials) transport() (*http.Transport, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.insecureSkipVerify}
	if c.caPEM != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(c.caPEM) {
			return nil, errors.New("the CA certificate is no PEM certificate")
		}
		config.RootCAs = pool
	}
	if c.certPEM != nil {
		pair, err := tls.X509KeyPair(c.certPEM, c.keyPEM)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true}, nil
}

func sameHost(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && ua.Host == ub.Host
}
