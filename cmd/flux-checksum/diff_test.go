package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// helmStorage is an API server with one release in it, as Helm stores it: JSON, gzipped
// and in base64, in a Secret.
func helmStorage(t *testing.T, namespace, name string, release map[string]any) *httptest.Server {
	t.Helper()
	text, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	stored := base64.StdEncoding.EncodeToString(zipped.Bytes())
	labels := map[string]string{"owner": "helm", "name": name, "status": "deployed", "version": "1"}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.0"})
	})
	mux.HandleFunc("GET /api/v1/namespaces/"+namespace+"/secrets", func(w http.ResponseWriter, r *http.Request) {
		items := []any{}
		if strings.Contains(r.URL.Query().Get("labelSelector"), "name="+name) {
			items = append(items, map[string]any{
				"metadata": map[string]any{"name": "sh.helm.release.v1." + name + ".v1", "namespace": namespace, "labels": labels},
				"type":     "helm.sh/release.v1",
				"data":     map[string]string{"release": base64.StdEncoding.EncodeToString([]byte(stored))},
			})
		}
		answer(w, map[string]any{"apiVersion": "v1", "kind": "SecretList", "metadata": map[string]any{}, "items": items})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// TestDiffComparesAChartWithTheReleaseInTheCluster has a release called like the chart's
// directory, as people have them.
func TestDiffComparesAChartWithTheReleaseInTheCluster(t *testing.T) {
	manifest := strings.NewReplacer("{{ .Release.Name }}", "web", "{{ .Values.level }}", "debug").Replace(smallChart)
	server := helmStorage(t, "prod", "web", map[string]any{
		"name": "web", "namespace": "prod", "version": 1,
		"info":     map[string]any{"status": "deployed"},
		"config":   map[string]any{"level": "debug"},
		"manifest": "---\n# Source: web/templates/all.yaml\n" + manifest,
	})
	dir := t.TempDir()
	write(t, dir, "web/Chart.yaml", "{apiVersion: v2, name: web, version: 1.0.0}\n")
	write(t, dir, "web/values.yaml", "level: info\n")
	write(t, dir, "web/templates/all.yaml", smallChart)
	write(t, dir, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q}}]
users: [{name: test, user: {token: none}}]
contexts: [{name: test, context: {cluster: test, user: test}}]
current-context: test
`, server.URL))
	t.Setenv("KUBECONFIG", dir+"/kubeconfig")
	t.Setenv("HELM_NAMESPACE", "prod")

	out, errOut, status := session(t, dir, "diff", "web", "./web")
	if status != 0 || out != "" {
		t.Errorf("with the release's own values: status %d\n%s%s", status, out, errOut)
	}
	out, errOut, status = session(t, dir, "diff", "web", "./web", "--set", "level=warn")
	if status != 1 || !strings.Contains(out, "Deployment/prod/web") || !strings.Contains(out, "LEVEL") {
		t.Errorf("with other values: status %d\n%s%s", status, out, errOut)
	}
	_, errOut, status = session(t, dir, "diff", "absent", "./web")
	if status != 2 || !strings.Contains(errOut, "release absent in namespace prod") {
		t.Errorf("a release that is not there: status %d\n%s", status, errOut)
	}
}
