package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// An apiServer serves objects from a file as an API server does: lists in pages,
// metadata alone where that is asked for, refusals. It listens on the loopback interface.
type apiServer struct {
	objects []*unstructured.Unstructured
	version string          // of /version
	forbid  map[string]bool // such as "list secrets" or "get secrets"
	expire  bool            // continue tokens are gone once, with another one offered

	mutex    sync.Mutex
	requests []string // VERB RESOURCE [NAME], with "metadata" where only that was asked for
	limits   map[string]bool
	expired  bool
}

// served are the resources that the tests use, by path.
var served = []struct{ groupVersion, resource, kind string }{
	{"v1", "pods", "Pod"},
	{"v1", "configmaps", "ConfigMap"},
	{"v1", "secrets", "Secret"},
	{"apps/v1", "deployments", "Deployment"},
	{"apps/v1", "statefulsets", "StatefulSet"},
	{"apps/v1", "daemonsets", "DaemonSet"},
	{"apps/v1", "replicasets", "ReplicaSet"},
	{"batch/v1", "jobs", "Job"},
	{"batch/v1", "cronjobs", "CronJob"},
	{"argoproj.io/v1alpha1", "rollouts", "Rollout"},
}

func newAPIServer(t *testing.T, files ...string) *apiServer {
	t.Helper()
	s := &apiServer{version: `{"major":"1","minor":"36"}`, forbid: map[string]bool{}, limits: map[string]bool{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			s.add(t, string(document))
		}
	}
	return s
}

func (s *apiServer) add(t *testing.T, document string) {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(document), &object); err != nil {
		t.Fatal(err)
	}
	if object != nil {
		s.objects = append(s.objects, &unstructured.Unstructured{Object: object})
	}
}

// connect starts the server for the time of the test.
func (s *apiServer) connect(t *testing.T) *Cluster {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	path := strings.Trim(r.URL.Path, "/")
	if path == "version" {
		if s.forbid["get version"] {
			refuse(w, "get", "version", "", "")
			return
		}
		_, _ = io.WriteString(w, s.version)
		return
	}
	groupVersion, rest := splitPath(path)
	if rest == nil {
		s.discover(w, groupVersion)
		return
	}
	namespace, name := "", ""
	if rest[0] == "namespaces" && len(rest) > 2 {
		namespace, rest = rest[1], rest[2:]
	}
	if len(rest) > 1 {
		name = rest[1]
	}
	i := slices.IndexFunc(served, func(one struct{ groupVersion, resource, kind string }) bool {
		return one.groupVersion == groupVersion && one.resource == rest[0]
	})
	if i < 0 {
		fail(w, 404, "NotFound", "the server could not find the requested resource")
		return
	}
	metadataOnly := strings.Contains(strings.SplitN(r.Header.Get("Accept"), ",", 2)[0], "as=PartialObjectMetadata")
	verb := "list"
	if name != "" {
		verb = "get"
	}
	log := verb + " " + rest[0]
	if metadataOnly {
		log += " metadata"
	}
	if name != "" {
		log += " " + name
	}
	s.requests = append(s.requests, log)
	if s.forbid[verb+" "+rest[0]] || s.forbid[verb+" "+rest[0]+" metadata"] && metadataOnly || s.forbid[verb+" "+rest[0]+" content"] && !metadataOnly {
		refuse(w, verb, rest[0], name, namespace)
		return
	}
	var found []any
	for _, o := range s.objects {
		if o.GetAPIVersion() != groupVersion || o.GetKind() != served[i].kind || namespace != "" && o.GetNamespace() != namespace || name != "" && o.GetName() != name {
			continue
		}
		if metadataOnly {
			found = append(found, map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o.Object["metadata"]})
		} else {
			found = append(found, o.Object)
		}
	}
	if name != "" {
		if len(found) == 0 {
			fail(w, 404, "NotFound", fmt.Sprintf("%s %q not found", rest[0], name))
			return
		}
		encode(w, found[0])
		return
	}
	s.list(w, r, served[i].kind, groupVersion, metadataOnly, found)
}

func (s *apiServer) list(w http.ResponseWriter, r *http.Request, kind, groupVersion string, metadataOnly bool, found []any) {
	s.limits[r.URL.Query().Get("limit")] = true
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit <= 0 {
		fail(w, 400, "BadRequest", "this server is only asked for pages")
		return
	}
	token := strings.TrimPrefix(r.URL.Query().Get("continue"), "offered-")
	start, _ := strconv.Atoi(token)
	if s.expire && !s.expired && token != "" {
		s.expired = true
		w.WriteHeader(410)
		encode(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410,
			"message": "the provided continue parameter is too old", "metadata": map[string]any{"continue": "offered-" + token}})
		return
	}
	meta := map[string]any{"resourceVersion": "1000"}
	end := min(start+limit, len(found))
	if end < len(found) {
		meta["continue"] = strconv.Itoa(end)
	}
	list := map[string]any{"kind": kind + "List", "apiVersion": groupVersion, "metadata": meta, "items": append([]any{}, found[start:end]...)}
	if metadataOnly {
		list["kind"], list["apiVersion"] = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	encode(w, list)
}

func (s *apiServer) discover(w http.ResponseWriter, groupVersion string) {
	var resources []any
	for _, one := range served {
		if one.groupVersion == groupVersion {
			resources = append(resources,
				map[string]any{"name": one.resource, "kind": one.kind, "namespaced": true},
				map[string]any{"name": one.resource + "/status", "kind": one.kind, "namespaced": true})
		}
	}
	if resources == nil {
		fail(w, 404, "NotFound", "the server could not find the requested resource")
		return
	}
	encode(w, map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion, "resources": resources})
}

// splitPath takes api/V1/REST and apis/GROUP/VERSION/REST apart.
func splitPath(path string) (groupVersion string, rest []string) {
	parts := strings.Split(path, "/")
	n := 2
	if parts[0] == "apis" {
		n = 3
	}
	if len(parts) <= n {
		return strings.Join(parts[1:], "/"), nil
	}
	return strings.Join(parts[1:n], "/"), parts[n:]
}

func refuse(w http.ResponseWriter, verb, resource, name, namespace string) {
	what := resource
	if name != "" {
		what += fmt.Sprintf(" %q", name)
	}
	where := "at the cluster scope"
	if namespace != "" {
		where = fmt.Sprintf("in the namespace %q", namespace)
	}
	fail(w, 403, "Forbidden", fmt.Sprintf("%s is forbidden: User \"viewer\" cannot %s resource %q in API group \"\" %s", what, verb, resource, where))
}

func fail(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	encode(w, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message})
}

func encode(w io.Writer, v any) {
	_ = json.NewEncoder(w).Encode(v) // a client that has gone away is no one's loss
}
