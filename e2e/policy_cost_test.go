//go:build e2e

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// The API server evaluates the policies once for each config object in the namespace. What
// that costs whoever writes a workload is measured as kubectl sees it, since that is what
// people wait for; what it costs the API server alone is logged, and in docs/cluster.md.
func TestPolicyCostsLittleBesideManyConfigObjects(t *testing.T) {
	const objects = 500
	usePolicy(t, policy.Options{})
	selected, unselected := newNamespace(t, policyLabel), newNamespace(t, nil)
	for _, ns := range []string{selected, unselected} {
		for i := range objects / 2 {
			create(t, ns, configMap(fmt.Sprintf("c%d", i), "1"))
			last := create(t, ns, secretObject(fmt.Sprintf("c%d", i), "1"))
			if ns == selected && i == objects/2-1 {
				settle(t, last)
			}
		}
	}
	none := deployment("x", part{container: "env: [{name: A, value: a}]"})
	three := deployment("x", part{container: "envFrom: [{configMapRef: {name: c7}}, {configMapRef: {name: c8}}, {secretRef: {name: c9}}]"})
	kinds := []struct {
		name, namespace, manifest string
		atMost                    float64 // times what an unselected workload takes
	}{
		{"not selected", unselected, none, 1},
		{"selected, consumes none", selected, none, 1.3},
		{"selected, consumes three", selected, three, 2},
	}
	if got := stampsOf(templateAnnotations(t, create(t, selected, three, "All"))); len(got) == 0 {
		t.Fatal("not stamped: there is nothing to measure")
	}
	for how, write := range map[string]func(namespace, manifest string){
		"kubectl": func(ns, manifest string) {
			command(t, manifest, "kubectl", "-n", ns, "create", "--dry-run=server", "-f", "-")
		},
		"the API alone": func(ns, manifest string) { create(t, ns, manifest, "All") },
	} {
		// The machine has other work: the shortest of many tells best what it takes, and taking
		// turns gives all the same chance. A busy machine gets some more rounds to find it.
		shortest := make([]time.Duration, len(kinds))
		ratio := func(i int) float64 { return float64(shortest[i]) / float64(shortest[0]) }
		for round := range 100 {
			if round >= 20 && (how != "kubectl" || ratio(1) <= kinds[1].atMost && ratio(2) <= kinds[2].atMost) {
				break
			}
			for i, k := range kinds {
				start := time.Now()
				write(k.namespace, k.manifest)
				if took := time.Since(start); shortest[i] == 0 || took < shortest[i] {
					shortest[i] = took
				}
			}
		}
		for i, k := range kinds {
			t.Logf("%s, %s: %v, %.2f times", how, k.name, shortest[i].Round(100*time.Microsecond), ratio(i))
			if how == "kubectl" && ratio(i) > k.atMost {
				t.Errorf("%s, %s: %.2f times what an unselected workload takes, want at most %.1f", how, k.name, ratio(i), k.atMost)
			}
		}
		t.Logf("%s: %v for each object in the namespace, %v more for each that is consumed", how,
			(shortest[1]-shortest[0])/objects, (shortest[2]-shortest[1])/3)
	}
}
