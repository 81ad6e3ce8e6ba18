package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/realhelm"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// The tests in this file render charts with real Helms. The number that begins a
// subtest's name is the line of the edge cases that it shows.

// installed returns a Helm of the major version with the plugin installed.
func installed(t *testing.T, major int) *realhelm.Helm {
	t.Helper()
	h := realhelm.New(t, major)
	dir := filepath.Join(t.TempDir(), "helm-checksum")
	if r := h.Finish(h.Command("cp", "-R", releaseFolder(t), dir)); r.Exit != 0 {
		t.Fatal(r.All())
	}
	h.Must("plugin", "install", dir)
	h.Path = append([]string{filepath.Join(dir, "bin")}, h.Path...)
	return h
}

// eachInstalled runs a test with both Helms, the plugin installed.
func eachInstalled(t *testing.T, test func(*testing.T, *realhelm.Helm)) {
	for _, major := range majors {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			test(t, installed(t, major))
		})
	}
}

const (
	postRenderer     = "--post-renderer=helm-checksum"
	postRendererArgs = "--post-renderer-args"
)

// chart makes a chart from files in templates and elsewhere.
func chart(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	write(t, filepath.Join(dir, "Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata:
      labels: {app: %[1]s}
    spec:
      containers:
        - name: %[1]s
          image: example.org/%[1]s
%[2]s`

const readsFeatures = `          envFrom:
            - configMapRef: {name: shop-features}
`

const features = `apiVersion: v1
kind: ConfigMap
metadata:
  name: shop-features
  labels:
    chart: {{ .Chart.Name }}-{{ .Chart.Version }}
    team: {{ .Values.team | default "shop" }}
data:
  FEATURE_RECS: {{ .Values.recs | default "on" | quote }}
`

// storyChart is a chart with a Deployment that reads FEATURE_RECS from a ConfigMap, and
// one that does not.
func storyChart(t *testing.T) string {
	t.Helper()
	return chart(t, map[string]string{
		"templates/features.yaml": features,
		"templates/shop.yaml":     fmt.Sprintf(deployment, "shop", readsFeatures),
		"templates/mail.yaml":     fmt.Sprintf(deployment, "mail", ""),
	})
}

// The story that the README's demo tells.
func TestStory(t *testing.T) {
	eachInstalled(t, func(t *testing.T, h *realhelm.Helm) {
		dir := filepath.Join(t.TempDir(), "feature-recs")
		if r := h.Finish(h.Command("cp", "-R", filepath.Join(moduleRoot(t), "charts-testdata", "feature-recs"), dir)); r.Exit != 0 {
			t.Fatal(r.All())
		}
		template := func(args ...string) map[string]string {
			t.Helper()
			return podTemplates(t, h.Must(append([]string{"template", "shop", dir, postRenderer}, args...)...))
		}
		on, off := template("--set", "featureRecs=on"), template("--set", "featureRecs=off")
		if diff := cmp.Diff([]string{"Deployment/shop-store"}, changed(on, off)); diff != "" {
			t.Errorf("changed pod templates, FEATURE_RECS on to off (-want +got):\n%s", diff)
		}
		stamp := regexp.MustCompile(`"helm-checksum/configmap.shop-flags":"[0-9a-f]{64}"`)
		if got, want := stamp.ReplaceAllString(off["Deployment/shop-store"], ""), stamp.ReplaceAllString(on["Deployment/shop-store"], ""); got != want || got == on["Deployment/shop-store"] {
			t.Errorf("not exactly one annotation changed:\n%s", cmp.Diff(want, got))
		}
		if diff := cmp.Diff(on, template("--set", "featureRecs=on", "--set", "team=growth")); diff != "" {
			t.Errorf("a label of the ConfigMap changed pod templates:\n%s", diff)
		}
		manifest := filepath.Join(dir, "Chart.yaml")
		write(t, manifest, regexp.MustCompile(`(?m)^version: .*$`).ReplaceAllString(string(read(t, manifest)), "version: 99.0.0"))
		if out := h.Must("template", "shop", dir); !strings.Contains(out, "-99.0.0") {
			t.Fatal("the version is not in what the chart renders")
		}
		if diff := cmp.Diff(on, template("--set", "featureRecs=on")); diff != "" {
			t.Errorf("the chart's version changed pod templates:\n%s", diff)
		}
	})
}

// podTemplates returns the pod templates of a stream, as JSON, by workload.
func podTemplates(t *testing.T, stream string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, object := range objects(t, stream) {
		spec, _ := object["spec"].(map[string]any)
		if template, ok := spec["template"]; ok {
			text, err := json.Marshal(template)
			if err != nil {
				t.Fatal(err)
			}
			found[nameOf(object)] = string(text)
		}
	}
	return found
}

func changed(before, after map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if before[name] != after[name] {
			all = append(all, name)
		}
	}
	return all
}

func TestSubcommands(t *testing.T) {
	eachInstalled(t, func(t *testing.T, h *realhelm.Helm) {
		dir := storyChart(t)
		stamped := filepath.Join(t.TempDir(), "on.yaml")
		write(t, stamped, h.Must("template", "web", dir, postRenderer))
		edited := filepath.Join(t.TempDir(), "edited.yaml")
		write(t, edited, strings.ReplaceAll(string(read(t, stamped)), `FEATURE_RECS: "on"`, `FEATURE_RECS: "off"`))

		for _, c := range []struct {
			exit int
			says string
			args []string
		}{
			{0, "Deployment/default/shop", []string{"explain", stamped}},
			{0, `"kind": "Report"`, []string{"explain", "-o", "json", stamped}},
			{0, "All stamps are right", []string{"verify", stamped}},
			{1, "stale", []string{"verify", edited}},
			{0, "", []string{"diff", stamped, stamped}},
			{1, "FEATURE_RECS", []string{"diff", stamped, edited}},
			{2, "no-such-file", []string{"verify", "no-such-file.yaml"}},
			{2, "see helm checksum verify --help", []string{"verify", "--strikt", stamped}},
			{0, "helm-checksum " + sourceVersion(t, moduleRoot(t)), []string{"version"}},
		} {
			r := h.Run(append([]string{"checksum"}, c.args...)...)
			if r.Exit != c.exit || !strings.Contains(r.All(), c.says) {
				t.Errorf("helm checksum %s: exit %d, want %d and %q:\n%s", strings.Join(c.args, " "), r.Exit, c.exit, c.says, r.All())
			}
		}
	})
}

func TestPostRendererArgs(t *testing.T) {
	eachInstalled(t, func(t *testing.T, h *realhelm.Helm) {
		dir := storyChart(t)
		report := filepath.Join(t.TempDir(), "report-%p.json")
		out := h.Must("template", "web", dir, postRenderer, postRendererArgs, "--report", postRendererArgs, report,
			postRendererArgs, "--skip", postRendererArgs, "deployment/shop")
		if strings.Contains(out, "helm-checksum/") {
			t.Errorf("--skip is without effect:\n%s", out)
		}
		reports, err := filepath.Glob(strings.ReplaceAll(report, "%p", "*"))
		if err != nil || len(reports) != 1 {
			t.Errorf("reports: %v %v", reports, err)
		}

		// The same by variables, for those who can't pass arguments.
		h.Env = append(h.Env, "HELM_CHECKSUM_SKIP=deployment/shop")
		if out := h.Must("template", "web", dir, postRenderer); strings.Contains(out, "helm-checksum/") {
			t.Errorf("HELM_CHECKSUM_SKIP is without effect:\n%s", out)
		}
	})
}

// failing makes a chart whose post-rendering fails: a required ConfigMap is not there.
func failing(t *testing.T) string {
	t.Helper()
	return chart(t, map[string]string{"templates/shop.yaml": fmt.Sprintf(deployment, "shop", readsFeatures)})
}

func TestFailure(t *testing.T) {
	args := func(t *testing.T) []string {
		return []string{"template", "web", failing(t), postRenderer, postRendererArgs, "--strict"}
	}
	const reason = "ConfigMap/shop-features"
	eachInstalled(t, func(t *testing.T, h *realhelm.Helm) {
		t.Run("30 the reason is in the log", func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			h.Env = append(h.Env, "HELM_CHECKSUM_LOG="+log)
			r := h.Run(args(t)...)
			if r.Exit == 0 || strings.Contains(r.Stdout, "kind:") {
				t.Errorf("exit %d:\n%s", r.Exit, r.All())
			}
			if got := strings.Contains(r.Stderr, reason); got != (h.Major == 3) {
				t.Errorf("helm %d shows the reason: %v\n%s", h.Major, got, r.Stderr)
			}
			if got := string(read(t, log)); !strings.Contains(got, reason) || strings.Count(got, "\n") != 1 {
				t.Errorf("the log: %q", got)
			}
		})
		t.Run("30 the reason is on the terminal", func(t *testing.T) {
			cmd := h.Command(h.Bin, args(t)...)
			shown := onTerminal(t, cmd)
			if cmd.ProcessState.ExitCode() == 0 || strings.Count(shown, reason) != 1 {
				t.Errorf("exit %d, on the terminal:\n%s", cmd.ProcessState.ExitCode(), shown)
			}
		})
	})
}

// onTerminal runs a command with a controlling terminal, and returns what it shows.
func onTerminal(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var shown strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := terminal.Read(buffer)
		shown.Write(buffer[:n])
		if err != nil { // Linux ends a terminal without processes by EIO
			break
		}
	}
	_ = cmd.Wait() // its state says how it ended
	return shown.String()
}

func TestHooks(t *testing.T) {
	dir := func(t *testing.T, more map[string]string) string {
		files := map[string]string{
			"templates/shop.yaml": fmt.Sprintf(deployment, "shop", readsFeatures),
			"templates/hook.yaml": strings.Replace(features, "  labels:\n", "  annotations:\n    helm.sh/hook: pre-install\n  labels:\n", 1),
		}
		maps.Copy(files, more)
		return chart(t, files)
	}
	plan := func(t *testing.T, h *realhelm.Helm, chart string) (*renderer.Plan, string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "report.json")
		out := h.Must("template", "web", chart, "--set", "recs=off", postRenderer, postRendererArgs, "--report", postRendererArgs, file)
		p := &renderer.Plan{}
		if err := json.Unmarshal(read(t, file), p); err != nil {
			t.Fatal(err)
		}
		return p, out
	}
	t.Run("26 Helm 3 sends no hooks", func(t *testing.T) {
		p, _ := plan(t, installed(t, 3), dir(t, nil))
		if got := p.Workloads[0].Consumes[0].Status; got != renderer.External {
			t.Errorf("a ConfigMap that is only a hook is %s", got)
		}
	})
	t.Run("27 Helm 4 sends hooks in the stream", func(t *testing.T) {
		h := installed(t, 4)
		p, _ := plan(t, h, dir(t, nil))
		if got := p.Workloads[0].Consumes[0].Status; got != renderer.Stamped {
			t.Errorf("a ConfigMap that is only a hook is %s", got)
		}
		// As hook and as template: no error, and the template's content counts.
		both, _ := plan(t, h, dir(t, map[string]string{
			"templates/features.yaml": strings.ReplaceAll(features, `{{ .Values.recs | default "on" | quote }}`, `"template"`),
		}))
		alone, _ := plan(t, h, chart(t, map[string]string{
			"templates/shop.yaml":     fmt.Sprintf(deployment, "shop", readsFeatures),
			"templates/features.yaml": strings.ReplaceAll(features, `{{ .Values.recs | default "on" | quote }}`, `"template"`),
		}))
		if got, want := both.Workloads[0].Consumes[0].Checksum, alone.Workloads[0].Consumes[0].Checksum; got != want || got == "" {
			t.Errorf("hook and template: checksum %q, the template's is %q", got, want)
		}
	})
	t.Run("28 Helm 4's file name annotation survives and never counts", func(t *testing.T) {
		sums := map[string]bool{}
		for _, major := range majors {
			h := installed(t, major)
			for _, name := range []string{"templates/features.yaml", "templates/renamed.yaml"} {
				p, out := plan(t, h, chart(t, map[string]string{
					"templates/shop.yaml": fmt.Sprintf(deployment, "shop", readsFeatures),
					name:                  features,
				}))
				sums[p.Workloads[0].Consumes[0].Checksum] = true
				if !strings.Contains(out, "# Source: shop/"+name) {
					t.Errorf("helm %d lost the file's name %s:\n%s", major, name, out)
				}
				if got := p.Workloads[0].Source; got != "shop/templates/shop.yaml" && got != "templates/shop.yaml" {
					t.Errorf("helm %d: the workload's source is %q", major, got)
				}
			}
		}
		if len(sums) != 1 {
			t.Errorf("checksums of one content: %v", sums)
		}
	})
}

func TestHelm3Streams(t *testing.T) {
	t.Run("29 empty stdin: Helm 3 with --output-dir", func(t *testing.T) {
		h := installed(t, 3)
		out := t.TempDir()
		h.Must("template", "web", storyChart(t), postRenderer, "--output-dir", out)
		if !strings.Contains(string(read(t, filepath.Join(out, "shop", "templates", "shop.yaml"))), "kind: Deployment") {
			t.Error("--output-dir has no Deployment")
		}
	})
	t.Run("32 --hide-secret: consumers are external", func(t *testing.T) {
		h := installed(t, 3)
		dir := chart(t, map[string]string{
			"templates/shop.yaml":   fmt.Sprintf(deployment, "shop", "          envFrom:\n            - secretRef: {name: shop-secret}\n"),
			"templates/secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop-secret\nstringData:\n  password: hunter2\n",
		})
		report := filepath.Join(t.TempDir(), "report.json")
		args := []string{"install", "web", dir, "--dry-run=client", "--disable-openapi-validation", "--kube-apiserver", emptyCluster(t), postRenderer, postRendererArgs, "--report", postRendererArgs, report}
		status := func(args []string) renderer.Status {
			t.Helper()
			h.Must(args...)
			p := &renderer.Plan{}
			if err := json.Unmarshal(read(t, report), p); err != nil {
				t.Fatal(err)
			}
			return p.Workloads[0].Consumes[0].Status
		}
		if got := status(args); got != renderer.Stamped {
			t.Errorf("without --hide-secret: %s", got)
		}
		if got := status(append(args, "--hide-secret")); got != renderer.External {
			t.Errorf("with --hide-secret: %s", got)
		}
	})
	t.Run("33 --include-crds: untouched and unparsed", func(t *testing.T) {
		h := installed(t, 3)
		dir := storyChart(t)
		// Nothing reads what is in a document that can't matter: this is no YAML at all.
		crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets.example.org\nspec: {unclosed: [\n" +
			strings.Repeat("  # "+strings.Repeat("x", 96)+"\n", 10_000)
		write(t, filepath.Join(dir, "crds", "widgets.yaml"), crd)
		plain := h.Must("template", "web", dir, "--include-crds")
		stamped := h.Must("template", "web", dir, "--include-crds", postRenderer)
		if !strings.Contains(stamped, crd) {
			t.Error("the CRD did not come through as it is")
		}
		added := regexp.MustCompile(`(?m)^ +annotations:\n +helm-checksum/configmap.shop-features: [0-9a-f]{64}\n`)
		if n := len(added.FindAllString(stamped, -1)); n != 1 || added.ReplaceAllString(stamped, "") != plain {
			t.Errorf("more than one stamp was added:\n%s", cmp.Diff(plain, stamped))
		}
	})
}

// emptyCluster serves as much of the Kubernetes API as a dry run asks for: which kinds
// there are, and that there is nothing yet. It returns the server's URL.
func emptyCluster(t *testing.T) string {
	t.Helper()
	answers := map[string]string{
		"/version":       `{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}`,
		"/api":           `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/apis":          `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]}]}`,
		"/api/v1":        `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "secrets", "kind": "Secret", "namespaced": true, "verbs": ["get"]}]}`,
		"/apis/apps/v1":  `{"kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["get"]}]}`,
		"anything else?": `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = answers["anything else?"]
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestPlainExecutable(t *testing.T) {
	binary := filepath.Join(releaseFolder(t), "bin", "helm-checksum")
	// Terraform's provider, helmfile, skaffold and Argo CD run it like this.
	run := func(stdin string, args ...string) (stdout, stderr string, exit int) {
		cmd := exec.Command(binary, args...)
		cmd.Env = []string{"LANG=C"}
		cmd.Stdin = strings.NewReader(stdin)
		var o, e strings.Builder
		cmd.Stdout, cmd.Stderr = &o, &e
		_ = cmd.Run() // the exit status says it
		return o.String(), e.String(), cmd.ProcessState.ExitCode()
	}
	stream := strings.ReplaceAll(features, "{{", "#{{") + "---\n" + fmt.Sprintf(deployment, "shop", readsFeatures)
	t.Run("34 by path, with plain arguments, no HELM_ variables", func(t *testing.T) {
		stdout, stderr, exit := run(stream, "--strict", "--namespace", "prod")
		if exit != 0 || stderr != "" || !strings.Contains(stdout, "helm-checksum/configmap.shop-features: ") {
			t.Errorf("exit %d, stderr %q, stdout:\n%s", exit, stderr, stdout)
		}
	})
	for name, text := range map[string]string{
		"comments":   "# nothing here\n",
		"separators": "---\n---\n",
		"blank":      "\n \n",
		"null":       "null\n",
		"one object": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n",
	} {
		t.Run("29 what is not empty stays so: "+name, func(t *testing.T) {
			if stdout, stderr, exit := run(text); stdout != text || exit != 0 {
				t.Errorf("exit %d, stderr %q, stdout %q", exit, stderr, stdout)
			}
		})
	}
	t.Run("29 empty stdin", func(t *testing.T) {
		if stdout, stderr, exit := run(""); stdout != "" || stderr != "" || exit != 0 {
			t.Errorf("exit %d, stderr %q, stdout %q", exit, stderr, stdout)
		}
	})
}

// What the corpus of real streams, where there is one, must not do without a
// namespace, as Helm runs us: fail, or stamp otherwise than with one.
func TestRealStreamsWithoutNamespace(t *testing.T) {
	corpus := filepath.Join(moduleRoot(t), "..", "shared", "corpus")
	if _, err := os.Stat(corpus); err != nil {
		t.Skipf("there is no corpus of real streams here: %v", err)
	}
	const namespace = "prod" // all were rendered for it
	for _, helm := range []string{"helm3", "helm4"} {
		files, err := filepath.Glob(filepath.Join(corpus, helm, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no streams in %s/%s: %v", corpus, helm, err)
		}
		for _, file := range files {
			t.Run(helm+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				stream := read(t, file)
				without, with := stampsFor(t, stream, ""), stampsFor(t, stream, namespace)
				if !namesANamespace(t, stream) {
					if diff := cmp.Diff(with, without); diff != "" {
						t.Errorf("stamps with (-) and without (+) a namespace:\n%s", diff)
					}
				}
			})
		}
	}
}

// stampsFor returns each workload's stamps.
func stampsFor(t *testing.T, stream []byte, namespace string) map[string]string {
	t.Helper()
	r, err := renderer.New(renderer.Options{Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := r.Plan(stream)
	if err != nil {
		t.Fatalf("namespace %q: %v", namespace, err)
	}
	stamps := map[string]string{}
	for i, w := range plan.Workloads {
		for _, c := range w.Consumes {
			if c.Status == renderer.Stamped {
				stamps[fmt.Sprintf("%d %s/%s %s", i, w.Kind, w.Name, c.Annotation)] = c.Checksum
			}
		}
	}
	return stamps
}

var namespaceLine = regexp.MustCompile(`(?m)^[ ]*["']?namespace["']?:`)

// namesANamespace says whether a chart names namespaces of its own, in any place.
func namesANamespace(t *testing.T, stream []byte) bool {
	t.Helper()
	return namespaceLine.Match(stream)
}
