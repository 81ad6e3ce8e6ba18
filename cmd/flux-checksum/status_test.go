package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// statusServer is an API server with one pod of a Deployment, which reads a ConfigMap
// that was written an hour after the pod started.
type statusServer struct {
	fields string // what the writer of the ConfigMap owns

	mutex sync.Mutex
	paths []string // asked for
	users []string // impersonated
}

const (
	contentAlone = `{"f:data": {"f:LEVEL": {}}}`
	labelsToo    = `{"f:data": {"f:LEVEL": {}}, "f:metadata": {"f:labels": {"f:helm.sh/chart": {}}}}`
)

func (s *statusServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.paths = append(s.paths, r.URL.Path)
	s.users = append(s.users, r.Header.Get("Impersonate-User"))
	s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch path := r.URL.Path; {
	case path == "/version":
		fmt.Fprint(w, `{"major": "1", "minor": "36"}`)
	case strings.HasSuffix(path, "/pods"):
		fmt.Fprint(w, `{"kind": "PodList", "apiVersion": "v1", "items": [{
			"metadata": {"name": "web-5d8f7-a", "namespace": "shop", "labels": {"pod-template-hash": "5d8f7"},
				"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d8f7", "uid": "u", "controller": true}]},
			"spec": {"containers": [{"name": "app", "envFrom": [{"configMapRef": {"name": "web"}}]}]},
			"status": {"phase": "Running", "containerStatuses": [{"name": "app", "state": {"running": {"startedAt": "2026-01-01T10:00:00Z"}}}]}}]}`)
	case strings.HasSuffix(path, "/deployments"):
		fmt.Fprint(w, `{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [{"metadata": {"name": "web", "namespace": "shop",
			"annotations": {"meta.helm.sh/release-name": "web"}}}]}`)
	case strings.HasSuffix(path, "/statefulsets"), strings.HasSuffix(path, "/daemonsets"):
		fmt.Fprint(w, `{"kind": "List", "apiVersion": "v1", "items": []}`)
	case path == "/api/v1/namespaces/shop/configmaps/web":
		fmt.Fprintf(w, `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "web", "namespace": "shop",
			"creationTimestamp": "2026-01-01T09:00:00Z", "managedFields": [
				{"manager": "m", "time": "2026-01-01T11:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": %s}]}}`, s.fields)
	default:
		http.NotFound(w, r)
	}
}

// start serves the cluster and writes a kubeconfig with two contexts for it: one has
// the namespace shop, the other does not.
func (s *statusServer) start(t *testing.T) (kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: shop,
		clusters: [{name: c, cluster: {server: %q}}, {name: gone, cluster: {server: "http://127.0.0.1:1"}}],
		contexts: [{name: shop, context: {cluster: c, namespace: shop}}, {name: other, context: {cluster: c, namespace: other}}, {name: gone, context: {cluster: gone}}]}`,
		server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// runStatus runs the command away from the user's own environment.
func runStatus(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	return runStatusUntil(t, t.Context(), args...)
}

func runStatusUntil(t *testing.T, ctx context.Context, args ...string) (stdout string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	c := newStatusCommand()
	c.SilenceErrors = true
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&bytes.Buffer{})
	c.SetArgs(args)
	err = c.ExecuteContext(ctx)
	return out.String(), err
}

func TestStatusExitStatus(t *testing.T) {
	tests := []struct {
		name, fields string
		args         []string
		want         int
	}{
		{"stale", contentAlone, nil, cli.ExitDifference},
		{"maybe stale", labelsToo, nil, cli.ExitOK},
		{"maybe stale, strict", labelsToo, []string{"--strict"}, cli.ExitDifference},
		{"a release", contentAlone, []string{"web"}, cli.ExitDifference},
		{"a release that is not there", contentAlone, []string{"wbe"}, cli.ExitError},
		{"unreachable", contentAlone, []string{"--context", "gone"}, cli.ExitError},
		{"unknown context", contentAlone, []string{"--context", "typo"}, cli.ExitError},
		{"unknown output", contentAlone, []string{"-o", "xml"}, cli.ExitError},
		{"unknown flag", contentAlone, []string{"--nonsense"}, cli.ExitError},
		{"two releases", contentAlone, []string{"web", "other"}, cli.ExitError},
		{"an empty namespace among others", contentAlone, []string{"-n", "shop,,other"}, cli.ExitError},
		{"no key in the file", contentAlone, []string{"--hmac-key-file", os.DevNull}, cli.ExitError},
		{"no key file", contentAlone, []string{"--hmac-key-file", "does/not/exist"}, cli.ExitError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			kubeconfig := (&statusServer{fields: tt.fields}).start(t)
			out, err := runStatus(t, append([]string{"--kubeconfig", kubeconfig}, tt.args...)...)
			if got := cli.ExitStatus(err); got != tt.want {
				t.Errorf("exit status %d (%v), want %d; output:\n%s", got, err, tt.want, out)
			}
			if tt.want == cli.ExitError && (out != "" || strings.Contains(err.Error(), "\n")) {
				t.Errorf("want one line and no output, got %v and %q", err, out)
			}
		})
	}
}

func TestStatusJSONIsVersioned(t *testing.T) {
	kubeconfig := (&statusServer{fields: contentAlone}).start(t)
	out, err := runStatus(t, "--kubeconfig", kubeconfig, "-o", "json")
	if !errors.Is(err, cli.ErrDifference) {
		t.Fatal(err)
	}
	var report struct {
		APIVersion, Kind string
		Summary          map[string]int
		Items            []struct {
			State string
			Since time.Time
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.APIVersion != "helm-checksum/v1" || report.Kind != "Status" {
		t.Errorf("it is %s %s", report.APIVersion, report.Kind)
	}
	if d := cmp.Diff(map[string]int{"stale": 1}, report.Summary); d != "" || len(report.Items) != 1 || report.Items[0].State != "stale" {
		t.Errorf("summary (-want +got):\n%s\n%s", d, out)
	}
	if want := time.Date(2026, 1, 1, 11, 0, 0, 0, time.UTC); !report.Items[0].Since.Equal(want) {
		t.Errorf("since %s, want %s", report.Items[0].Since, want)
	}
}

func TestStatusNamespace(t *testing.T) {
	helm := map[string]string{"HELM_PLUGIN_DIR": "/plugins/helm-checksum", "HELM_NAMESPACE": "helms", "HELM_KUBECONTEXT": "other", "HELM_KUBEASUSER": "viewer"}
	shell := map[string]string{"HELM_NAMESPACE": "helms", "HELM_KUBECONTEXT": "other", "HELM_KUBEASUSER": "viewer"}
	tests := []struct {
		name string
		env  map[string]string
		args []string
		want string // where pods are listed
		user string
	}{
		{"the context's", nil, nil, "/api/v1/namespaces/shop/pods", ""},
		{"another context's", nil, []string{"--context", "other"}, "/api/v1/namespaces/other/pods", ""},
		{"the flag's", nil, []string{"-n", "named"}, "/api/v1/namespaces/named/pods", ""},
		{"all", nil, []string{"-A"}, "/api/v1/pods", ""},
		{"all, named or not", nil, []string{"-A", "-n", "named"}, "/api/v1/pods", ""},
		{"Helm's, run by Helm", helm, nil, "/api/v1/namespaces/helms/pods", "viewer"},
		{"the flag's, run by Helm", helm, []string{"-n", "named", "--as", "me"}, "/api/v1/namespaces/named/pods", "me"},
		{"all, run by Helm", helm, []string{"-A"}, "/api/v1/pods", "viewer"},
		{"the context's, not run by Helm", shell, nil, "/api/v1/namespaces/shop/pods", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("HELM_PLUGIN_DIR", "")
			os.Unsetenv("HELM_PLUGIN_DIR") // the line before has it restored
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			server := &statusServer{fields: labelsToo}
			if _, err := runStatus(t, append([]string{"--kubeconfig", server.start(t)}, tt.args...)...); err != nil {
				t.Fatal(err)
			}
			var pods []string
			for i, path := range server.paths {
				if strings.HasSuffix(path, "/pods") {
					pods = append(pods, path)
				}
				if server.users[i] != tt.user {
					t.Errorf("%s was asked for as %q, want %q", path, server.users[i], tt.user)
				}
			}
			if d := cmp.Diff([]string{tt.want}, pods); d != "" {
				t.Errorf("pods asked for (-want +got):\n%s", d)
			}
		})
	}
}

func TestStatusWatchEndsAsTheLastLookDid(t *testing.T) {
	server := &statusServer{fields: contentAlone}
	kubeconfig := server.start(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // interrupt after the second look
		for ctx.Err() == nil {
			server.mutex.Lock()
			looks := strings.Count(strings.Join(server.paths, " "), "/configmaps/web")
			server.mutex.Unlock()
			if looks == 2 {
				time.Sleep(100 * time.Millisecond)
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	out, err := runStatusUntil(t, ctx, "--kubeconfig", kubeconfig, "--watch", "--interval", "1s", "-o", "json")
	if !errors.Is(err, cli.ErrDifference) {
		t.Errorf("error = %v, want that of something stale", err)
	}
	if looks := strings.Split(strings.TrimSpace(out), "\n"); len(looks) != 2 || !json.Valid([]byte(looks[0])) || !json.Valid([]byte(looks[1])) {
		t.Errorf("want two lines of JSON:\n%s", out)
	}
}

func TestStatusWithoutAKubeconfigSaysWhatToDo(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	_, err := runStatus(t)
	if err == nil || !strings.Contains(err.Error(), "no cluster is configured: give --kubeconfig") {
		t.Errorf("error = %v", err)
	}
}
