package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// results are what was measured, in the order of the table, and what was not.
type results struct {
	inputs []measured
	notes  []string
}

// tables returns the measured part of the page.
func tables(r *results, verdicts []verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured with %s on %s/%s, %d cores. CPU time in milliseconds.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	b.WriteString("| input | MB |")
	for _, p := range programs {
		fmt.Fprintf(&b, " %s |", p)
	}
	b.WriteString(" x `floor -sum` | x `cat` | peak memory, MB |\n|---|--:|" + strings.Repeat("--:|", len(programs)+3) + "\n")
	for _, m := range r.inputs {
		fmt.Fprintf(&b, "| %s | %s |", m.title, digits(float64(m.size)/megabyte))
		for _, p := range programs {
			t, ok := m.cpu(p)
			cell := "-"
			if ok {
				cell = digits(float64(t) / float64(time.Millisecond))
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		fmt.Fprintf(&b, " %.2f | %.2f | %.1f |\n", m.share(1, floorSum, 0), m.share(1, cat, 0), float64(m.peak(checksum))/megabyte)
	}
	fmt.Fprintf(&b, "\n`kustomize build` is left out above %.1f MB, where it takes minutes: \"-\". ", float64(kustomizeUpTo)/megabyte)
	b.WriteString("`helm template` is there where the chart is.\n")
	for _, n := range r.notes {
		b.WriteString(n + "\n")
	}
	b.WriteString("\n| budget | input | taken | holds |\n|---|---|--:|---|\n")
	for _, v := range verdicts {
		holds := "pass"
		if !v.holds {
			holds = "**fail**"
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f %% | %s |\n", v.budget, v.input, 100*v.share, holds)
	}
	return b.String()
}

// digits writes a number with about three digits that count.
func digits(f float64) string {
	switch {
	case f < 1:
		return fmt.Sprintf("%.2f", f)
	case f < 100:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.0f", f)
}
