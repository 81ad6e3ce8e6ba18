//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/helm-checksum/helm-checksum/internal/policy"
)

// The API server evaluates the policies once for each config object in the namespace. What
// that costs whoever writes a workload is measured as kubectl sees it, since that is what
// people wait for; what it costs the API server alone is logged, and in docs/cluster.md. What
// counts is the median of many comparisons, each of writes that follow on one another.
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
	one := deployment("x", part{container: "envFrom: [{configMapRef: {name: c7}}]"})
	three := deployment("x", part{container: "envFrom: [{configMapRef: {name: c7}}, {configMapRef: {name: c8}}, {secretRef: {name: c9}}]"})
	kinds := []struct {
		name, namespace, manifest string
		atMost                    float64 // times what an unselected workload takes
	}{
		{"not selected", unselected, none, 1},
		{"selected, consumes none", selected, none, 1.3},
		{"selected, consumes three", selected, three, 2},
		{"selected, consumes one", selected, one, 2}, // by the API server alone
	}
	if got := stampsOf(templateAnnotations(t, create(t, selected, three, "All"))); len(got) == 0 {
		t.Fatal("not stamped: there is nothing to measure")
	}
	t.Run("kubectl", func(t *testing.T) {
		limited := kinds[:3]
		times := measure(len(limited), func(i int) {
			command(t, kinds[i].manifest, "kubectl", "-n", kinds[i].namespace, "create", "--dry-run=server", "-f", "-")
		}, func(times [][]time.Duration) bool {
			return ratio(times, 1, 0) <= kinds[1].atMost && ratio(times, 2, 0) <= kinds[2].atMost
		})
		for i, k := range limited {
			t.Logf("%s: %.2f times; %s", k.name, ratio(times, i, 0), summary(times[i]))
			if got := ratio(times, i, 0); got > k.atMost {
				t.Errorf("%s: %.2f times what an unselected workload takes, want at most %.1f", k.name, got, k.atMost)
			}
		}
	})
	t.Run("the API server alone", func(t *testing.T) {
		times := measure(len(kinds), func(i int) { create(t, kinds[i].namespace, kinds[i].manifest, "All") },
			func([][]time.Duration) bool { return true })
		for i, k := range kinds {
			t.Logf("%s: %s", k.name, summary(times[i]))
		}
		// What changes a workload in admission has all policies looked at once more.
		t.Logf("%v for each object in the namespace, %v more for one that is consumed, %v for three",
			difference(times, 1, 0)/objects, difference(times, 3, 1), difference(times, 2, 1))
	})
}

// How often things that are compared are done. A machine that has other work gets more rounds.
const (
	fewestRounds = 21
	mostRounds   = 101
)

// measure does n things in turn, for some rounds and then until it is enough, and returns how
// long each took in each round. Other work on the machine comes and goes: what is done within
// one round meets about the same of it, whoever begins.
func measure(n int, do func(i int), enough func([][]time.Duration) bool) [][]time.Duration {
	times := make([][]time.Duration, n)
	for round := range mostRounds {
		if round >= fewestRounds && enough(times) {
			break
		}
		for turn := range n {
			i := (round + turn) % n
			start := time.Now()
			do(i)
			times[i] = append(times[i], time.Since(start))
		}
	}
	return times
}

// ratio is how many times as long as thing j thing i takes: the median of the rounds.
func ratio(times [][]time.Duration, i, j int) float64 {
	ratios := make([]float64, len(times[i]))
	for round := range ratios {
		ratios[round] = float64(times[i][round]) / float64(times[j][round])
	}
	return median(ratios)
}

// difference is how much longer thing i takes than thing j: the median of the rounds.
func difference(times [][]time.Duration, i, j int) time.Duration {
	differences := make([]time.Duration, len(times[i]))
	for round := range differences {
		differences[round] = times[i][round] - times[j][round]
	}
	return median(differences)
}

func summary(times []time.Duration) string {
	return fmt.Sprintf("%d rounds, median %v, shortest %v", len(times),
		median(times).Round(100*time.Microsecond), slices.Min(times).Round(100*time.Microsecond))
}

func median[T cmp.Ordered](of []T) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
