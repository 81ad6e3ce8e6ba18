package main

import (
	"slices"
	"time"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
)

// A budget is what helm-checksum may take.
type budget struct {
	says  string
	of    func(input) bool                 // the inputs that it is about
	share func(measured, *results) float64 // what is taken, as a share of the budget
}

func corpus(in input) bool { return in.title == "public charts" }

func generated(size int, shapes ...genstream.Shape) func(input) bool {
	return func(in input) bool {
		return in.nominal == size && (len(shapes) == 0 || slices.Contains(shapes, in.shape))
	}
}

func cpuShare(factor float64, than program, extra time.Duration) func(measured, *results) float64 {
	return func(m measured, _ *results) float64 { return m.share(factor, than, extra) }
}

const megabyte = 1_000_000

var budgets = []budget{
	{"CPU time of a public chart's stream: at most 1.5 x `cat` + 2 ms", corpus, cpuShare(1.5, cat, 2*time.Millisecond)},
	{"CPU time of 10 MB that are consumed: at most 3 x `floor -sum`", generated(10*megabyte, genstream.Config, genstream.Huge), cpuShare(3, floorSum, 0)},
	{"CPU time of 10 MB that need nothing: at most 2 x `floor`", generated(10*megabyte, genstream.CRD, genstream.Small), cpuShare(2, floor, 0)},
	{"CPU time of 10 MB that need nothing: at most 1.5 x `floor` + 1 ms", generated(10*megabyte, genstream.CRD, genstream.Small), cpuShare(1.5, floor, time.Millisecond)},
	{"peak memory: under 2.5 x the input + 10 MB", func(input) bool { return true },
		func(m measured, _ *results) float64 { return m.peakShare(2.5, 10*megabyte) }},
	{"CPU time of 100 MB: ten times that of 10 MB, at most 12.5 with the noise", generated(100 * megabyte), growth},
}

// growth holds 100 MB against 10 MB of the same shape.
func growth(m measured, r *results) float64 {
	for _, small := range r.inputs {
		if small.shape == m.shape && small.nominal*10 == m.nominal {
			a, _ := small.cpu(checksum)
			b, _ := m.cpu(checksum)
			return float64(b) / float64(a) / 12.5
		}
	}
	return 0
}

// A verdict says whether a budget holds for an input.
type verdict struct {
	budget, input string
	share         float64
	holds         bool
}

// judge holds every input against every budget that is about it.
func judge(r *results) []verdict {
	var all []verdict
	for _, b := range budgets {
		for _, m := range r.inputs {
			if b.of(m.input) {
				share := b.share(m, r)
				all = append(all, verdict{b.says, m.title, share, share <= 1})
			}
		}
	}
	return all
}
