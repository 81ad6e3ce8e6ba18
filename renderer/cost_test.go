package renderer_test

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// What the engine allocates is the same on every machine, fast or slow: a regression
// check that needs no clock. The limits, and why each is what it is, are in
// testdata/cost-limits.tsv.
func TestCost(t *testing.T) {
	limits := readLimits(t)
	check := func(name string, got float64) {
		t.Helper()
		limit, ok := limits[name]
		switch {
		case !ok:
			t.Errorf("%s: no limit in testdata/cost-limits.tsv (measured %.2f)", name, got)
		case got > limit:
			t.Errorf("%s: %.2f, more than the limit of %.2f in testdata/cost-limits.tsv", name, got, limit)
		default:
			t.Logf("%s: %.2f, limit %.2f", name, got, limit)
		}
		delete(limits, name)
	}

	idle := func(n int) []byte {
		return []byte(strings.Repeat("---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n  - port: 80\n", n))
	}
	few, many := costOf(t, idle(100)), costOf(t, idle(10_000))
	check("allocations for 9,900 more Services", many.allocations-few.allocations)
	check("bytes for 9,900 more Services", many.bytes-few.bytes)
	unread := func(n int) []byte {
		return []byte(strings.Repeat("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  a: |\n"+strings.Repeat("    some text that no one reads\n", 100), n))
	}
	few, many = costOf(t, unread(100)), costOf(t, unread(1100))
	check("allocations per ConfigMap that no one consumes", (many.allocations-few.allocations)/1000)
	check("bytes per ConfigMap that no one consumes", (many.bytes-few.bytes)/1000)

	stamped := func(n int) []byte {
		b := []byte(configMap("settings", "a: \"1\"\n"))
		for i := range n {
			b = append(b, deployment("web-"+strconv.Itoa(i), envFrom("settings"))...)
		}
		return b
	}
	few, many = costOf(t, stamped(100)), costOf(t, stamped(1100))
	check("allocations per stamped workload", (many.allocations-few.allocations)/1000)
	check("bytes per stamped workload", (many.bytes-few.bytes)/1000)
	few, many = costOfReport(t, stamped(100)), costOfReport(t, stamped(1100))
	check("allocations per reported workload", (many.allocations-few.allocations)/1000)
	check("bytes per reported workload", (many.bytes-few.bytes)/1000)

	for _, shape := range genstream.Shapes() {
		one, three := generated(t, shape, 1_000_000), generated(t, shape, 3_000_000)
		few, many := costOf(t, one), costOf(t, three)
		mb := float64(len(three)-len(one)) / 1e6
		check("allocations per MB of "+string(shape), (many.allocations-few.allocations)/mb)
		check("kilobytes per MB of "+string(shape), (many.bytes-few.bytes)/mb/1000)
	}

	// Twice the input takes twice the memory, give or take what a growing slice wastes.
	for _, h := range genstream.HostileStreams() {
		const size = 50_000
		name := "bytes for twice the input"
		for of, costOf := range map[string]func(*testing.T, []byte) cost{"stamped": costOf, "reported": costOfReport} {
			once, twice := costOf(t, h.Make(size)), costOf(t, h.Make(2*size))
			if ratio := twice.bytes / once.bytes; ratio > limits[name] {
				t.Errorf("%s: %s, %s: %.0f becomes %.0f, %.2f times, more than the limit of %.2f", name, h.Name, of, once.bytes, twice.bytes, ratio, limits[name])
			} else {
				t.Logf("%s: %s, %s: %.2f times, limit %.2f", name, h.Name, of, ratio, limits[name])
			}
		}
	}
	delete(limits, "bytes for twice the input")

	for name := range limits {
		t.Errorf("testdata/cost-limits.tsv has a limit for %q, which is not measured", name)
	}
}

type cost struct{ allocations, bytes float64 }

// costOf returns what stamping a stream allocates.
func costOf(t *testing.T, stream []byte) cost {
	t.Helper()
	r := newRenderer(t, renderer.Options{})
	return leastCost(func() { stampAndWrite(t, r, stream) })
}

// costOfReport is costOf with the report of who consumes what.
func costOfReport(t *testing.T, stream []byte) cost {
	t.Helper()
	r := newRenderer(t, renderer.Options{})
	return leastCost(func() {
		if _, err := r.Plan(stream); err != nil {
			t.Fatal(err)
		}
	})
}

// leastCost returns the least that a few runs of a function allocate, since the runtime
// allocates a little beside it.
func leastCost(run func()) cost {
	var least cost
	for i := range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		c := cost{float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)}
		if i == 0 {
			continue // it fills caches
		}
		if i == 1 {
			least = c
		}
		least = cost{min(least.allocations, c.allocations), min(least.bytes, c.bytes)}
	}
	return least
}

func readLimits(t *testing.T) map[string]float64 {
	t.Helper()
	const file = "testdata/cost-limits.tsv"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	limits := make(map[string]float64)
	for i, line := range strings.Split(strings.TrimRight(string(b), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		if i == 0 {
			continue // the names of the columns
		}
		if len(fields) != 3 || fields[2] == "" {
			t.Fatalf("%s:%d: want a name, a limit and a reason, with a tab between", file, i+1)
		}
		if limits[fields[0]], err = strconv.ParseFloat(fields[1], 64); err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
	}
	return limits
}
