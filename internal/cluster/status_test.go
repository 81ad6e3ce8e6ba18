package cluster

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/helm-checksum/helm-checksum/renderer"
)

var update = flag.Bool("update", false, "rewrite the expected results")

var hmacKey = []byte("a key for these tests")

// noon is when these tests look at their cluster.
func noon() time.Time { return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC) }

// shop is a namespace with every state in it. In its file CHECKSUM(configmap/NAME) stands
// for the checksum of the live object, KEYED(...) for that with hmacKey.
func shop(t *testing.T) *apiServer {
	t.Helper()
	s := newAPIServer(t, "testdata/shop.yaml")
	placeholder := regexp.MustCompile(`^(CHECKSUM|KEYED)\((\w+)/(.*)\)$`)
	var replace func(any) any
	replace = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k, item := range v {
				v[k] = replace(item)
			}
		case []any:
			for i, item := range v {
				v[i] = replace(item)
			}
		case string:
			if m := placeholder.FindStringSubmatch(v); m != nil {
				return s.liveChecksum(t, m[1] == "KEYED", m[2], m[3])
			}
		}
		return v
	}
	for _, o := range s.objects {
		replace(o.Object)
	}
	return s
}

func (s *apiServer) liveChecksum(t *testing.T, keyed bool, kind, name string) string {
	t.Helper()
	var key []byte
	if keyed {
		key = hmacKey
	}
	for _, o := range s.objects {
		if o.GetName() != name || strings.ToLower(o.GetKind()) != kind {
			continue
		}
		content := map[string][]byte{}
		if kind == "secret" {
			secret := &corev1.Secret{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, secret); err != nil {
				t.Fatal(err)
			}
			content = secret.Data
		} else {
			for k, v := range o.Object["data"].(map[string]any) {
				content[k] = []byte(v.(string))
			}
		}
		return renderer.Checksum(o.GetKind(), content, []string{"*"}, key)
	}
	t.Fatalf("no %s %s in the file", kind, name)
	return ""
}

func look(t *testing.T, s *apiServer, o Options) *Report {
	t.Helper()
	o.Now = noon
	r, err := s.connect(t).Status(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// expect compares with testdata/NAME, or with -update rewrites it.
func expect(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

func table(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStatusTellsTheStatesApart(t *testing.T) {
	r := look(t, shop(t), Options{Namespaces: []string{"shop"}})
	expect(t, "shop.txt", table(t, r))
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "shop.json", string(text)+"\n")
	if !r.Difference(false) {
		t.Error("no difference reported, though some are stale")
	}
}

func TestTheAnswerDoesNotDependOnThePages(t *testing.T) {
	want := table(t, look(t, shop(t), Options{}))
	for _, size := range []int64{1, 3, 1000} {
		s := shop(t)
		s.expire = size == 3 // and not on a continue token that expires on the way
		got := look(t, s, Options{PageSize: size})
		if d := cmp.Diff(want, table(t, got)); d != "" {
			t.Errorf("pages of %d (-all +%d):\n%s", size, size, d)
		}
		if s.expire && !s.expired {
			t.Error("no continue token expired")
		}
		if d := cmp.Diff(map[string]bool{fmt.Sprint(size): true}, s.limits); d != "" {
			t.Errorf("limits asked for (-want +got):\n%s", d)
		}
	}
}

func states(r *Report) map[string]State {
	list := map[string]State{}
	for _, i := range r.Items {
		list[i.Workload.Name+" "+i.Object.Name] = i.State
	}
	return list
}

func TestTheKeySettlesKeyedStamps(t *testing.T) {
	for _, tt := range []struct {
		name string
		key  []byte
		want State
	}{
		{"without the key", nil, Unknown},
		{"with it", hmacKey, Current},
		{"with another", []byte("another"), Drifted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := look(t, shop(t), Options{Namespaces: []string{"shop"}, Release: "keyed", HMACKey: tt.key})
			if got := states(r)["keyed keyed"]; got != tt.want {
				t.Errorf("state = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestARightThatIsMissingIsListed(t *testing.T) {
	tests := []struct {
		name   string
		forbid []string
		want   []Unread
		states map[string]State // some that show it
	}{
		{"secrets", []string{"list secrets", "get secrets"},
			[]Unread{{"secrets", "shop", `User "viewer" cannot get resource "secrets" in API group "" in the namespace "shop"`}},
			map[string]State{"keyed keyed": Unknown, "plain plain": Unknown, "by-time by-time": Stale}},
		{"the content of secrets", []string{"get secrets content"},
			[]Unread{{"the content of secrets", "shop", `User "viewer" cannot get resource "secrets" in API group "" in the namespace "shop"`}},
			map[string]State{"keyed keyed": Current, "plain plain": Current}},
		{"config maps", []string{"list configmaps"},
			[]Unread{{"configmaps", "shop", `User "viewer" cannot list resource "configmaps" in API group "" in the namespace "shop"`}},
			map[string]State{"by-time by-time": Unknown, "missing missing": Unknown, "reader shared": Stale, "plain plain": Current}},
		{"deployments", []string{"list deployments", "list replicasets"},
			[]Unread{{"deployments.apps", "shop", `User "viewer" cannot list resource "deployments" in API group "" in the namespace "shop"`},
				{"replicasets.apps", "shop", `User "viewer" cannot list resource "replicasets" in API group "" in the namespace "shop"`}},
			map[string]State{"by-time-5d8f7 by-time": Stale, "nightly by-time": Stale}},
		{"jobs", []string{"list jobs"},
			[]Unread{{"jobs.batch", "shop", `User "viewer" cannot list resource "jobs" in API group "" in the namespace "shop"`}},
			map[string]State{"nightly-1 by-time": Stale}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := shop(t)
			for _, f := range tt.forbid {
				s.forbid[f] = true
			}
			r := look(t, s, Options{Namespaces: []string{"shop"}})
			if d := cmp.Diff(tt.want, r.Unread); d != "" {
				t.Errorf("unread (-want +got):\n%s", d)
			}
			if text := table(t, r); !strings.Contains(text, "could not read: "+tt.want[0].Resource+" in namespace shop") {
				t.Errorf("the table does not list it:\n%s", text)
			}
			got := states(r)
			for key, want := range tt.states {
				if got[key] != want {
					t.Errorf("%s is %q, want %q", key, got[key], want)
				}
			}
		})
	}
}

func TestOnlyWhatIsNeededIsRead(t *testing.T) {
	s := shop(t)
	look(t, s, Options{Namespaces: []string{"shop"}})
	if slices.Contains(s.requests, "get secrets plain") {
		t.Error("the content of a Secret that no one has a stamp for was read")
	}
	if !slices.Contains(s.requests, "get secrets keyed") {
		t.Error("the content of a stamped Secret was not read")
	}
	for _, r := range s.requests {
		if r == "list secrets" || r == "list configmaps" || strings.HasPrefix(r, "list replicasets") || strings.HasPrefix(r, "list rollouts") {
			t.Errorf("not needed: %s", r)
		}
	}

	s = shop(t)
	s.forbid["list secrets"], s.forbid["get secrets"] = true, true
	r := look(t, s, Options{Namespaces: []string{"shop"}, IgnoreSecrets: true})
	if slices.ContainsFunc(s.requests, func(r string) bool { return strings.Contains(r, "secrets") }) || len(r.Unread) > 0 {
		t.Errorf("Secrets were asked for though they are to be left out: %q, %v", s.requests, r.Unread)
	}
	if slices.ContainsFunc(r.Items, func(i Item) bool { return i.Object.Kind == "Secret" }) {
		t.Error("a Secret is in the report though Secrets are to be left out")
	}
}

func TestNothingOfASecretsContentIsShown(t *testing.T) {
	r := look(t, shop(t), Options{HMACKey: hmacKey})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"hunter2", "aHVudGVyMg==", string(hmacKey)} {
		if strings.Contains(string(text), value) || strings.Contains(table(t, r), value) {
			t.Error("the report has a secret value in it")
		}
	}
}

func TestReleaseNarrows(t *testing.T) {
	tests := []struct {
		name, release string
		want          map[string]State
	}{
		{"a Helm release", "drifted", map[string]State{"drifted drifted": Drifted}},
		{"a CronJob's release, for its job's pods", "batch", map[string]State{"nightly by-time": Stale}},
		{"a HelmRelease", "flux-web", map[string]State{"web by-time": Stale}},
		{"a pod's label, where the workload can't be read", "labelled", map[string]State{"unreadable by-time": Stale}},
		{"a Rollout's, through its ReplicaSet", "rolled", map[string]State{"canary by-time": Stale}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := shop(t)
			s.add(t, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: shop, labels: {helm.toolkit.fluxcd.io/name: flux-web}}}`)
			s.add(t, readerPod("web-0", "shop", "{}", "{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: u, controller: true}"))
			s.add(t, readerPod("unreadable-0", "shop", "{app.kubernetes.io/instance: labelled}", "{apiVersion: example.com/v1, kind: Widget, name: unreadable, uid: u, controller: true}"))
			s.add(t, `{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: canary, namespace: shop, annotations: {meta.helm.sh/release-name: rolled}}}`)
			s.add(t, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: canary-66, namespace: shop, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: canary, uid: u, controller: true}]}}`)
			s.add(t, readerPod("canary-66-x", "shop", "{rollouts-pod-template-hash: '66'}", "{apiVersion: apps/v1, kind: ReplicaSet, name: canary-66, uid: u, controller: true}"))
			got := states(look(t, s, Options{Namespaces: []string{"shop"}, Release: tt.release}))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("items (-want +got):\n%s", d)
			}
		})
	}
}

func readerPod(name, namespace, labels, owner string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, labels: %s, ownerReferences: [%s]}
spec: {containers: [{name: app, envFrom: [{configMapRef: {name: by-time}}]}]}
status: {phase: Running, containerStatuses: [{name: app, state: {running: {startedAt: "2026-01-01T10:10:00Z"}}}]}`, name, namespace, labels, owner)
}

func TestNoAnswerIsOneClearLine(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(*apiServer)
		options Options
		want    string
	}{
		{"an old cluster", func(s *apiServer) { s.version = `{"major":"1","minor":"21+"}` }, Options{},
			"is Kubernetes 1.21+: status needs 1.22 or later"},
		{"not a cluster", func(s *apiServer) { s.version = `<html>` }, Options{},
			"does not answer like a Kubernetes API server"},
		{"no right to list pods", func(s *apiServer) { s.forbid["list pods"] = true }, Options{Namespaces: []string{"shop"}},
			`listing pods: not allowed: pods is forbidden: User "viewer" cannot list resource "pods" in API group "" in the namespace "shop" (deploy/status-clusterrole.yaml`},
		{"no such release", func(*apiServer) {}, Options{Namespaces: []string{"shop"}, Release: "typo"},
			`no workload of a Helm release or HelmRelease named "typo" in namespace shop`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := shop(t)
			tt.prepare(s)
			_, err := s.connect(t).Status(context.Background(), tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v; want one line with %q", err, tt.want)
			}
		})
	}
}

func TestTheVersionNeedNotBeReadable(t *testing.T) {
	s := shop(t)
	s.forbid["get version"] = true
	if r := look(t, s, Options{Namespaces: []string{"shop"}}); len(r.Items) == 0 {
		t.Error("no items")
	}
}

func TestUnreachableIsOneClearLine(t *testing.T) {
	s := shop(t)
	c := s.connect(t)
	c.host = "test"
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, err := c.Status(ctx, Options{})
	if err == nil || !strings.Contains(err.Error(), "cannot reach the cluster at ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v", err)
	}
}

func TestAReleaseWithoutPodsIsNoError(t *testing.T) {
	s := shop(t)
	s.add(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: idle, namespace: shop, annotations: {meta.helm.sh/release-name: idle}}, spec: {replicas: 0}}`)
	r := look(t, s, Options{Namespaces: []string{"shop"}, Release: "idle"})
	if len(r.Items) != 0 || r.Difference(true) {
		t.Errorf("items = %v", r.Items)
	}
	if got, want := table(t, r), "nothing is consumed: 0 pods in namespace shop\n"; got != want {
		t.Errorf("table = %q, want %q", got, want)
	}
}
