package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// session runs the command in a directory and returns what it printed and its status.
func session(t *testing.T, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	t.Chdir(dir)
	files := map[string]*os.File{}
	for _, name := range []string{"in", "out", "err"} {
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[name] = f
	}
	status = run(append([]string{"flux-checksum"}, args...), os.Environ(), files["in"], files["out"], files["err"])
	read := func(name string) string {
		content, err := os.ReadFile(files[name].Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	return read("out"), read("err"), status
}

const smallChart = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {LEVEL: "{{ .Values.level }}"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: nginx, envFrom: [{configMapRef: {name: "{{ .Release.Name }}"}}]}]
`

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkoutWithChart returns a Git checkout with a small chart in the directory chart.
func checkoutWithChart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, ".git/HEAD", "")
	write(t, dir, "chart/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}\n")
	write(t, dir, "chart/values.yaml", "level: info\n")
	write(t, dir, "chart/templates/all.yaml", smallChart)
	return dir
}

// TestOutputDoesNotDependOnJobs looks at 200 releases, some of them stale, some broken.
func TestOutputDoesNotDependOnJobs(t *testing.T) {
	dir := checkoutWithChart(t)
	for i := range 200 {
		chart := "chart"
		if i%50 == 49 {
			chart = "absent"
		}
		write(t, dir, fmt.Sprintf("apps/%03d.yaml", i), fmt.Sprintf(`apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web-%d}
spec:
  chart: {spec: {chart: ./%s, sourceRef: {kind: GitRepository, name: flux-system}}}
  values: {level: debug}
`, i, chart))
	}
	if _, _, status := session(t, dir, "stamp", "apps"); status != 2 {
		t.Fatalf("status %d, want 2 for the broken ones", status)
	}
	for i := range 20 {
		file := filepath.Join(dir, fmt.Sprintf("apps/%03d.yaml", 10*i))
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, fmt.Sprintf("apps/%03d.yaml", 10*i), strings.Replace(string(content), "debug", "warn", 1))
	}
	type seen struct {
		Out, Err string
		Status   int
	}
	var first seen
	for _, jobs := range []string{"1", "2", "16"} {
		var s seen
		s.Out, s.Err, s.Status = session(t, dir, "verify", "--jobs", jobs, "apps")
		if jobs == "1" {
			first = s
			if n := strings.Count(s.Out, "stamp is stale"); n != 20 {
				t.Errorf("%d releases are stale, want 20", n)
			}
			if n := strings.Count(s.Err, "charts/absent") + strings.Count(s.Err, "absent"); s.Status != 2 || n < 4 {
				t.Errorf("status %d, %d messages of the broken releases", s.Status, n)
			}
			if strings.Contains(s.Out+s.Err, "rendering") {
				t.Error("progress is shown in a pipe")
			}
			continue
		}
		if d := cmp.Diff(first, s); d != "" {
			t.Errorf("--jobs %s gives another output:\n%s", jobs, d)
		}
	}
}
