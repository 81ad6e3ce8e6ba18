package release

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	gcrregistry "github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	helmregistry "helm.sh/helm/v4/pkg/registry"
	repo "helm.sh/helm/v4/pkg/repo/v1"
)

// archive packages a chart that is given as files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	ch, err := loader.LoadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	content, err := save(ch)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// ownHelm keeps Helm's and Docker's settings of the machine away.
func ownHelm(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HELM_REPOSITORY_CONFIG", filepath.Join(dir, "repositories.yaml"))
	t.Setenv("HELM_REGISTRY_CONFIG", filepath.Join(dir, "registry.json"))
	t.Setenv("DOCKER_CONFIG", dir)
	return dir
}

func chartSeen(t *testing.T, r *Release) string {
	t.Helper()
	version, _ := dataIn(t, render(t, r).Stream)["chart"].(string)
	return version
}

func TestLocalChart(t *testing.T) {
	dir := checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
		"apps/release.yaml": helmRelease(localChart), "env/prod.yaml": "greeting: from the source's prod.yaml\n",
		"apps/unrelated.yaml": "kind: Service\n  broken: [\n",
	}))
	r := only(t, dir, Options{})
	if got := chartSeen(t, r); got != "1.0.0" {
		t.Errorf("chart version is %s", got)
	}

	elsewhere := t.TempDir()
	write(t, elsewhere, under("charts/web", webChart("2.0.0")))
	for _, key := range []string{"GitRepository/repo", "GitRepository/apps/repo"} {
		if got := chartSeen(t, only(t, dir, Options{Sources: map[string]string{key: elsewhere}})); got != "2.0.0" {
			t.Errorf("--source %s: chart version is %s", key, got)
		}
	}
	if got := chartSeen(t, only(t, dir, Options{Charts: map[string]string{"apps/web": elsewhere + "/charts/web"}})); got != "2.0.0" {
		t.Errorf("--chart: chart version is %s", got)
	}
	tgz := filepath.Join(elsewhere, "web.tgz")
	if err := os.WriteFile(tgz, archive(t, webChart("3.0.0")), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := chartSeen(t, only(t, dir, Options{Charts: map[string]string{"web": tgz}})); got != "3.0.0" {
		t.Errorf("--chart with an archive: chart version is %s", got)
	}
}

func TestValuesFiles(t *testing.T) {
	for _, test := range []struct {
		name, field, want string
		parts             []string
	}{
		{"the chart's own", "valuesFiles: [values.yaml]", "from values.yaml", nil},
		{"of the source", "valuesFiles: [env/base.yaml, env/prod.yaml]", "from prod", nil},
		{"in the old field first", "valuesFile: env/prod.yaml\n      valuesFiles: [env/base.yaml]", "from base", nil},
		{"missing, ignored", "valuesFiles: [env/base.yaml, env/none.yaml]\n      ignoreMissingValuesFiles: true", "from base", nil},
		{"missing", "valuesFiles: [env/base.yaml, env/none.yaml]", "", []string{"spec.chart.spec", "valuesFiles[1]", "env/none.yaml", "ignoreMissingValuesFiles"}},
		{"outside the source", "valuesFiles: [../../etc/passwd]", "", []string{"valuesFiles[0]"}},
		{"broken", "valuesFiles: [env/broken.yaml]", "", []string{"valuesFiles[0]", "env/broken.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := strings.Replace(localChart, "sourceRef", test.field+"\n      sourceRef", 1)
			r := only(t, checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
				"apps/release.yaml": helmRelease(spec),
				"env/base.yaml":     "greeting: from base\n", "env/prod.yaml": "greeting: from prod\n", "env/broken.yaml": "a: [\n",
			})), Options{})
			if test.parts != nil {
				wantError(t, r, append(test.parts, "HelmRelease apps/web")...)
				return
			}
			if got := valuesSeen(t, r)["greeting"]; got != test.want {
				t.Errorf("greeting is %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhatOnlyTheClusterKnowsOfAVersionDiffersWhenRenderedAgain(t *testing.T) {
	for field, want := range map[string][2]string{
		"valuesFiles: [env/base.yaml]":                                        {"1.0.0+1", "1.0.0+2"},
		"reconcileStrategy: Revision":                                         {"1.0.0+111111111111", "1.0.0+222222222222"},
		"reconcileStrategy: Revision\n      valuesFiles: [env/base.yaml]":     {"1.0.0+111111111111.1", "1.0.0+222222222222.2"},
		"reconcileStrategy: ChartVersion\n      valuesFiles: [./values.yaml]": {"1.0.0", "1.0.0"},
	} {
		spec := strings.Replace(localChart, "sourceRef", field+"\n      sourceRef", 1)
		r := only(t, checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
			"apps/release.yaml": helmRelease(spec), "env/base.yaml": "a: b\n",
		})), Options{})
		again, err := r.RenderAgain(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{chartSeen(t, r), dataIn(t, again.Stream)["chart"].(string)}; got != want {
			t.Errorf("%s: versions are %q, want %q", field, got, want)
		}
	}
}

func TestDependenciesOfALocalChart(t *testing.T) {
	server := chartServer(t, "", webChart("0.3.0"), webChart("0.4.0"))
	ownHelm(t)
	parent := func(dependency string) map[string]string {
		return map[string]string{
			"apps/release.yaml":         strings.ReplaceAll(helmRelease(localChart), "charts/web", "charts/parent"),
			"charts/parent/Chart.yaml":  "apiVersion: v2\nname: parent\nversion: 1.0.0\ndependencies:\n- " + dependency + "\n",
			"charts/parent/values.yaml": "",
		}
	}
	for _, test := range []struct {
		name, dependency, want string
		more                   map[string]string
		parts                  []string
	}{
		{"vendored", "{name: web, version: 0.1.0, repository: https://charts.example.com}", "0.1.0", under("charts/parent/charts/web", webChart("0.1.0")), nil},
		{"file", "{name: web, version: 0.x, repository: 'file://../web'}", "0.2.0", under("charts/web", webChart("0.2.0")), nil},
		{"repository", "{name: web, version: <0.4.0, repository: '" + server.URL + "'}", "0.3.0", nil, nil},
		{"file that is not there", "{name: web, version: 0.x, repository: 'file://../web'}", "", nil, []string{"dependency web of chart parent", "no chart at charts/web"}},
		{"file of another version", "{name: web, version: 1.x, repository: 'file://../web'}", "", under("charts/web", webChart("0.2.0")), []string{"has version 0.2.0, wanted is 1.x"}},
		{"alias of a repository", "{name: web, version: 1.x, repository: '@mine'}", "", nil, []string{"@mine", "vendor it"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := checkout(t, merged(parent(test.dependency), test.more))
			before := listing(t, dir)
			r := only(t, dir, Options{})
			if test.parts != nil {
				wantError(t, r, test.parts...)
			} else if got := chartSeen(t, r); got != test.want {
				t.Errorf("the dependency's version is %s, want %s", got, test.want)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("the checkout was written to:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.Walk(dir, func(name string, _ os.FileInfo, err error) error {
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

// A testServer serves a chart repository whose index Helm's own code made.
type testServer struct {
	*httptest.Server
	charts atomic.Int32 // downloads
	index  atomic.Int32
}

// chartServer serves charts, with basic auth when credentials are USER:PASSWORD.
func chartServer(t *testing.T, credentials string, charts ...map[string]string) *testServer {
	t.Helper()
	dir := t.TempDir()
	for i, files := range charts {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("chart-%d.tgz", i)), archive(t, files), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	index, err := repo.IndexDirectory(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := index.WriteFile(filepath.Join(dir, "index.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &testServer{}
	files := http.FileServer(http.Dir(dir))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if credentials != "" && user+":"+password != credentials {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			s.charts.Add(1)
		} else {
			s.index.Add(1)
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func httpRelease(server, version, more string) map[string]string {
	return map[string]string{
		"apps/release.yaml": helmRelease(`  chart:
    spec:
      chart: web
      version: ` + version + `
      sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}
` + more),
		"sources/charts.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec:
  url: ` + server + "\n",
	}
}

func TestHTTPRepositoryResolvesVersionsAsFluxDoes(t *testing.T) {
	ownHelm(t)
	server := chartServer(t, "", webChart("1.0.0"), webChart("1.2.3"), webChart("1.10.0"), webChart("2.0.0"), webChart("3.0.0-rc.1"))
	for version, want := range map[string]string{
		`""`: "2.0.0", `"*"`: "2.0.0", "1.2.3": "1.2.3", `"1.x"`: "1.10.0", `"~1.2.0"`: "1.2.3",
		`">=1.0.0 <2.0.0"`: "1.10.0", `">=3.0.0-0"`: "3.0.0-rc.1", "3.0.0-rc.1": "3.0.0-rc.1",
	} {
		if got := chartSeen(t, only(t, checkout(t, httpRelease(server.URL, version, "")), Options{})); got != want {
			t.Errorf("%s resolves to %s, want %s", version, got, want)
		}
	}
	wantError(t, only(t, checkout(t, httpRelease(server.URL, `"9.x"`, "")), Options{}),
		"HelmRelease apps/web", "spec.chart.spec.version", `"9.x"`, "2.0.0")
	wantError(t, only(t, checkout(t, httpRelease(server.URL, `"latest"`, "")), Options{}), "spec.chart.spec.version", "no range")
}

func TestHTTPRepositoryDownloadsOnceAndChecksDigests(t *testing.T) {
	ownHelm(t)
	server := chartServer(t, "", webChart("1.0.0"))
	dir, cache := checkout(t, httpRelease(server.URL, "1.0.0", "")), t.TempDir()
	for range 2 {
		r := only(t, dir, Options{CacheDir: cache})
		render(t, r)
		render(t, r)
	}
	if server.charts.Load() != 1 || server.index.Load() != 2 {
		t.Errorf("%d downloads of the chart, want 1; %d of the index, want one a run, 2", server.charts.Load(), server.index.Load())
	}
	cached, err := filepath.Glob(cache + "/*.tgz")
	if err != nil || len(cached) != 1 {
		t.Fatalf("cached: %q, %v", cached, err)
	}
	if err := os.WriteFile(cached[0], []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	render(t, only(t, dir, Options{CacheDir: cache}))
	if server.charts.Load() != 2 {
		t.Error("a damaged file in the cache was used")
	}

	lying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			_, _ = io.WriteString(w, "something else")
			return
		}
		http.Redirect(w, r, server.URL+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(lying.Close)
	wantError(t, only(t, checkout(t, httpRelease(lying.URL, "1.0.0", "")), Options{}), "HelmRelease apps/web", "SHA-256 digest", "is to have")
}

func TestHTTPRepositoryWithBasicAuth(t *testing.T) {
	helm := ownHelm(t)
	server := chartServer(t, "ann:hunter2", webChart("1.0.0"))
	secret := func(data string) map[string]string {
		files := httpRelease(server.URL, "1.0.0", "")
		files["sources/charts.yaml"] += "  secretRef: {name: login}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: flux-system}\n" + data
		return files
	}
	good := "stringData: {username: ann}\ndata: {password: " + base64.StdEncoding.EncodeToString([]byte("hunter2")) + "}\n"
	if got := chartSeen(t, only(t, checkout(t, secret(good)), Options{})); got != "1.0.0" {
		t.Errorf("with the Secret in Git: %s", got)
	}
	wantError(t, only(t, checkout(t, secret("stringData: {username: ann, password: wrong}\n")), Options{}), "401", "not accepted")
	encrypted := secret("stringData: {username: 'ENC[x]'}\nsops: {mac: x}\n")
	wantError(t, only(t, checkout(t, encrypted), Options{}), "HelmRelease apps/web", "401", "helm repo add")

	file := repo.NewFile()
	file.Update(&repo.Entry{Name: "mine", URL: server.URL + "/", Username: "ann", Password: "hunter2"})
	if err := file.WriteFile(filepath.Join(helm, "repositories.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := chartSeen(t, only(t, checkout(t, encrypted), Options{})); got != "1.0.0" {
		t.Errorf("with Helm's own configuration: %s", got)
	}
}

func TestHTTPRepositoryValuesFilesAreInTheChart(t *testing.T) {
	ownHelm(t)
	server := chartServer(t, "", webChart("1.0.0"))
	release := func(files string) *Release {
		f := httpRelease(server.URL, "1.0.0", "")
		f["apps/release.yaml"] = strings.Replace(f["apps/release.yaml"], "sourceRef", "valuesFiles: "+files+"\n      sourceRef", 1)
		return only(t, checkout(t, f), Options{})
	}
	if got := valuesSeen(t, release("[values.yaml, prod.yaml]"))["greeting"]; got != "from prod.yaml" {
		t.Errorf("greeting is %q", got)
	}
	wantError(t, release("[env/none.yaml]"), "valuesFiles[0]", "env/none.yaml")
}

func TestChartSourcesThatAreMissingOrWrong(t *testing.T) {
	ownHelm(t)
	server := chartServer(t, "", webChart("1.0.0"))
	noRepository := httpRelease(server.URL, "1.0.0", "")
	delete(noRepository, "sources/charts.yaml")
	otherType := httpRelease(server.URL, "1.0.0", "")
	otherType["sources/charts.yaml"] += "  type: oci\n"
	for _, test := range []struct {
		name  string
		files map[string]string
		parts []string
	}{
		{"no HelmRepository", noRepository, []string{"spec.chart.spec.sourceRef", "HelmRepository charts was not found", "--chart apps/web=PATH"}},
		{"type and URL", otherType, []string{"HelmRepository charts", "spec.type", "spec.url"}},
		{"unreachable", httpRelease("http://127.0.0.1:1", "1.0.0", ""), []string{"127.0.0.1:1", "refused", "spec.url", "--chart"}},
		{"no index", httpRelease(server.URL+"/none", "1.0.0", ""), []string{"/none/index.yaml", "404"}},
		{"no such chart in the source", map[string]string{"apps/release.yaml": helmRelease(localChart)}, []string{"no chart at charts/web", "--source GitRepository/repo=DIR"}},
		{"a directory that is no chart", map[string]string{"apps/release.yaml": helmRelease(localChart), "charts/web/x.yaml": ""}, []string{"no Chart.yaml"}},
		{"no chart name", map[string]string{"apps/release.yaml": helmRelease("  chart: {spec: {sourceRef: {kind: GitRepository, name: repo}}}\n")}, []string{"spec.chart.spec.chart is missing"}},
		{"an unknown kind of source", map[string]string{"apps/release.yaml": helmRelease("  chart: {spec: {chart: web, sourceRef: {kind: Registry, name: repo}}}\n")}, []string{"spec.chart.spec.sourceRef.kind", "Registry"}},
		{"a chart that is made in the cluster", map[string]string{"apps/release.yaml": helmRelease("  chartRef: {kind: ExternalArtifact, name: x}\n")}, []string{"spec.chartRef.kind", "--chart apps/web=PATH"}},
		{"no HelmChart", map[string]string{"apps/release.yaml": helmRelease("  chartRef: {kind: HelmChart, name: x}\n")}, []string{"spec.chartRef", "HelmChart x was not found"}},
		{"a chart and a reference to one", map[string]string{"apps/release.yaml": helmRelease(localChart + "  chartRef: {kind: HelmChart, name: x}\n")}, []string{"spec: chart and chartRef", "take one out"}},
		{"a reference of no kind", map[string]string{"apps/release.yaml": helmRelease("  chartRef: {name: x}\n")}, []string{"spec.chartRef.kind: is missing", "OCIRepository or HelmChart"}},
		{"a reference to no name", map[string]string{"apps/release.yaml": helmRelease("  chartRef: {kind: OCIRepository}\n")}, []string{"spec.chartRef.name: is missing"}},
		{"a chart that the repository has not", map[string]string{
			"apps/release.yaml":   strings.Replace(httpRelease(server.URL, "1.0.0", "")["apps/release.yaml"], "chart: web", "chart: none", 1),
			"sources/charts.yaml": httpRelease(server.URL, "1.0.0", "")["sources/charts.yaml"],
		}, []string{"spec.chart.spec.chart: ", "has no chart none; it has web"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts := test.parts
			for i := range parts {
				parts[i] = strings.ReplaceAll(parts[i], ".chart is missing", ".chart: is missing")
			}
			wantError(t, only(t, checkout(t, test.files), Options{}), append(parts, "HelmRelease apps/web")...)
		})
	}
	loose := t.TempDir()
	write(t, loose, map[string]string{"release.yaml": helmRelease(localChart)})
	wantError(t, only(t, loose, Options{}), "is in no Git repository", "--source GitRepository/repo=DIR")
}

func TestHelmChart(t *testing.T) {
	dir := checkout(t, merged(under("charts/web", webChart("1.0.0")), map[string]string{
		"apps/release.yaml": helmRelease("  chartRef: {kind: HelmChart, name: web, namespace: flux-system}\n"),
		"apps/chart.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: web, namespace: flux-system}
spec:
  chart: charts/web
  sourceRef: {kind: GitRepository, name: repo}
  valuesFiles: [env/prod.yaml]
`, "env/prod.yaml": "greeting: from prod\n",
	}))
	if got := valuesSeen(t, only(t, dir, Options{}))["greeting"]; got != "from prod" {
		t.Errorf("greeting is %q", got)
	}
}

// chartRegistry serves charts that Helm's registry client pushed, as HOST/charts/web,
// with basic auth when credentials are USER:PASSWORD. It returns HOST and the digests by
// version.
func chartRegistry(t *testing.T, credentials string, charts ...map[string]string) (string, map[string]string) {
	t.Helper()
	backend := gcrregistry.New(gcrregistry.Logger(log.New(io.Discard, "", 0)))
	closed := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if closed && user+":"+password != credentials {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptWriter(io.Discard),
		helmregistry.ClientOptCredentialsFile(filepath.Join(t.TempDir(), "none.json")))
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, files := range charts {
		content := archive(t, files)
		source, err := chartSource{archive: content}.load("")
		if err != nil {
			t.Fatal(err)
		}
		version := source.Metadata.Version
		result, err := client.Push(content, host+"/charts/web:"+version)
		if err != nil {
			t.Fatal(err)
		}
		digests[version] = result.Manifest.Digest
	}
	closed = credentials != ""
	return host, digests
}

func TestOCIHelmRepository(t *testing.T) {
	ownHelm(t)
	host, _ := chartRegistry(t, "", webChart("1.0.0"), webChart("1.2.0"), webChart("2.0.0+build.5"))
	release := func(version string) *Release {
		files := httpRelease("oci://"+host+"/charts", version, "")
		files["sources/charts.yaml"] += "  type: oci\n  insecure: true\n"
		return only(t, checkout(t, files), Options{})
	}
	for version, want := range map[string]string{"1.0.0": "1.0.0", `"1.x"`: "1.2.0", `""`: "2.0.0+build.5", "2.0.0+build.5": "2.0.0+build.5"} {
		if got := chartSeen(t, release(version)); got != want {
			t.Errorf("%s resolves to %s, want %s", version, got, want)
		}
	}
	wantError(t, release("7.0.0"), "HelmRelease apps/web", "spec.chart.spec.version: ", "has no 7.0.0; it has the tags 1.0.0")
	absent := httpRelease("oci://"+host+"/elsewhere", "1.x", "")
	absent["sources/charts.yaml"] += "  type: oci\n  insecure: true\n"
	wantError(t, only(t, checkout(t, absent), Options{}), "spec.chart.spec.chart: there is no repository "+host+"/elsewhere/web", "spec.url")
	wantError(t, release(`"7.x"`), "spec.chart.spec.version", `"7.x"`)
}

func ociRelease(host, ref, more string) map[string]string {
	return map[string]string{
		"apps/release.yaml": helmRelease("  chartRef: {kind: OCIRepository, name: web}\n"),
		"apps/web.yaml": `apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: apps}
spec:
  url: oci://` + host + `/charts/web
  insecure: true
  ref: ` + ref + "\n" + more,
	}
}

func TestOCIRepository(t *testing.T) {
	ownHelm(t)
	host, digests := chartRegistry(t, "", webChart("1.0.0"), webChart("1.2.0"), webChart("2.0.0"))
	mutated := func(version string) string {
		return version + "+" + strings.TrimPrefix(digests[version], "sha256:")[:12]
	}
	for ref, want := range map[string]string{
		`{tag: 1.0.0}`:                                    mutated("1.0.0"),
		`{semver: 1.x}`:                                   mutated("1.2.0"),
		`{semver: "*", semverFilter: "^1\\."}`:            mutated("1.2.0"),
		`{digest: "` + digests["2.0.0"] + `"}`:            mutated("2.0.0"),
		`{semver: 1.x, digest: ` + digests["1.0.0"] + `}`: mutated("1.0.0"),
	} {
		if got := chartSeen(t, only(t, checkout(t, ociRelease(host, ref, "")), Options{})); got != want {
			t.Errorf("%s: chart version is %s, want %s", ref, got, want)
		}
	}
	for ref, parts := range map[string][]string{
		`{tag: 9.9.9}`:  {"OCIRepository web", "spec.ref.tag", "has no 9.9.9; it has the tags 1.0.0, 1.2.0, 2.0.0"},
		`{semver: 9.x}`: {"spec.ref.semver", `"9.x"`, "1.2.0"},
		`{digest: "sha256:` + strings.Repeat("0", 64) + `"}`:     {"spec.ref.digest", "has no sha256:", "1.2.0"},
		"{tag: 1.0.0}\n  layerSelector: {mediaType: text/plain}": {"no layer of type text/plain"},
	} {
		wantError(t, only(t, checkout(t, ociRelease(host, ref, "")), Options{}), append(parts, "HelmRelease apps/web")...)
	}
	missing := ociRelease(host, "{tag: 1.0.0}", "")
	delete(missing, "apps/web.yaml")
	wantError(t, only(t, checkout(t, missing), Options{}), "spec.chartRef", "OCIRepository web was not found")
	tagged := ociRelease(host, "{}", "")
	tagged["apps/web.yaml"] = strings.Replace(tagged["apps/web.yaml"], "charts/web", "charts/web:1.0.0", 1)
	wantError(t, only(t, checkout(t, tagged), Options{}), "spec.url", "put 1.0.0 in spec.ref.tag")
}

func TestOCICredentials(t *testing.T) {
	helm := ownHelm(t)
	host, _ := chartRegistry(t, "ann:hunter2", webChart("1.0.0"))
	login := `{"auths":{"` + host + `":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("ann:hunter2")) + `"}}}`
	open := ociRelease(host, "{tag: 1.0.0}", "")
	wantError(t, only(t, checkout(t, open), Options{}), "HelmRelease apps/web", "wants (other) credentials", "helm registry login "+host)

	text, err := json.Marshal(login)
	if err != nil {
		t.Fatal(err)
	}
	withSecret := ociRelease(host, "{tag: 1.0.0}", "  secretRef: {name: login}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: apps}\ntype: kubernetes.io/dockerconfigjson\nstringData:\n  .dockerconfigjson: "+string(text)+"\n")
	chartSeen(t, only(t, checkout(t, withSecret), Options{}))

	if err := os.WriteFile(filepath.Join(helm, "registry.json"), []byte(login), 0o600); err != nil {
		t.Fatal(err)
	}
	chartSeen(t, only(t, checkout(t, open), Options{}))
}

func TestChartGivenByOCIReference(t *testing.T) {
	ownHelm(t)
	host, _ := chartRegistry(t, "", webChart("1.0.0"), webChart("1.2.0"))
	dir := checkout(t, map[string]string{"apps/release.yaml": helmRelease(localChart)})
	for ref, want := range map[string]string{":1.0.0": "1.0.0", "": "1.2.0"} {
		r := only(t, dir, Options{Charts: map[string]string{"web": "oci://" + host + "/charts/web" + ref}})
		if got := chartSeen(t, r); got != want {
			t.Errorf("%q: %s, want %s", ref, got, want)
		}
	}
}

func TestACancelledRenderEnds(t *testing.T) {
	ownHelm(t)
	stuck := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	t.Cleanup(func() { close(stuck); server.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := only(t, checkout(t, httpRelease(server.URL, "1.0.0", "")), Options{}).Render(ctx); err == nil {
		t.Error("rendered")
	}
}
