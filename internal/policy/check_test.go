package policy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
)

// An apiServer answers what Check asks.
type apiServer struct {
	version   string
	resources []string
	denied    string // the resource that the user has no right to
}

func (s apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	switch r.URL.Path {
	case "/version":
		answer = version.Info{GitVersion: s.version}
	case "/apis/admissionregistration.k8s.io/v1":
		list := metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
		for _, name := range s.resources {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
		}
		answer = list
	case "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		var review authorizationv1.SelfSubjectAccessReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Status.Allowed = review.Spec.ResourceAttributes.Resource != s.denied
		answer = review
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func TestCheckSaysInOneLineWhetherThePoliciesCanBeApplied(t *testing.T) {
	all := []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}
	for _, c := range []struct {
		name    string
		server  apiServer
		options Options
		want    string // in the output, or in the error after "error: "
	}{
		{"fine", apiServer{"v1.36.3", all, ""}, Options{}, "the policies can be applied"},
		{"too old", apiServer{"v1.33.1", []string{"validatingadmissionpolicies"}, ""}, Options{}, "error: (Kubernetes v1.33.1) is too old: the policies need 1.36 or later"},
		{"no right to policies", apiServer{"v1.36.3", all, all[0]}, Options{}, "error: does not let you create mutatingadmissionpolicies"},
		{"no right to read Secrets", apiServer{"v1.36.3", all, "secrets"}, Options{}, "error: does not let you get secrets"},
		{"no right to read Secrets, nor need", apiServer{"v1.36.3", all, "secrets"}, Options{NoSecrets: true}, "the policies can be applied"},
		{"bad option", apiServer{"v1.36.3", all, ""}, Options{Kinds: []string{"x"}}, `error: kinds: "x" is not one of`},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.server)
			defer server.Close()
			check(t, server.URL, c.options, c.want)
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		server := httptest.NewServer(apiServer{})
		server.Close()
		check(t, server.URL, Options{}, "error: the cluster at "+server.URL+" can't be asked")
	})
}

func check(t *testing.T, url string, o Options, want string) {
	t.Helper()
	var b bytes.Buffer
	got := ""
	config := &rest.Config{Host: url, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	if err := Check(t.Context(), &b, config, o); err != nil {
		got = "error: " + err.Error()
		if b.Len() > 0 {
			t.Errorf("output beside an error: %s", b.String())
		}
		if want, ok := strings.CutPrefix(want, "error: "); ok && !strings.Contains(got, want) || !ok {
			t.Errorf("got %q, want %q", got, want)
		}
	} else if got = b.String(); !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(strings.TrimSuffix(got, "\n"), "\n") {
		t.Errorf("more than one line: %q", got)
	}
}
