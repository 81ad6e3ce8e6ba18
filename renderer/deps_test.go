package renderer_test

import (
	"os/exec"
	"strings"
	"testing"
)

// The post-renderer starts in milliseconds because it links none of these, and whoever
// imports the engine does not get them either.
func TestNoHeavyDependencies(t *testing.T) {
	heavy := []string{"helm.sh/", "k8s.io/client-go", "k8s.io/apimachinery", "k8s.io/api", "sigs.k8s.io/kustomize", "github.com/fluxcd/"}
	for _, pkg := range []string{".", "../cmd/helm-checksum"} {
		out, err := exec.Command("go", "list", "-deps", pkg).Output()
		if err != nil {
			t.Fatalf("go list -deps %s: %v", pkg, err)
		}
		deps := strings.Fields(string(out))
		if len(deps) < 20 {
			t.Fatalf("go list -deps %s lists only %q", pkg, deps)
		}
		for _, dep := range deps {
			for _, h := range heavy {
				if strings.HasPrefix(dep, h) {
					t.Errorf("%s depends on %s", pkg, dep)
				}
			}
		}
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if strings.Contains(dep, "helm-checksum/helm-checksum/") && !strings.HasSuffix(dep, "/renderer") {
			t.Errorf("the engine imports %s: dependencies point down only", dep)
		}
	}
}
