package main

import (
	"slices"
	"time"
)

// A measured input has, for each program that ran, its runs in the order of the
// rounds: those at one index ran side by side, on the same stream.
type measured struct {
	input
	size int64 // bytes; the median over its streams
	runs map[program][]run
}

// measure runs every program once for each stream and round. A program that fails on
// a stream, as kustomize does on two objects of one name, is left out for that stream.
func (b *built) measure(in input) (measured, error) {
	m := measured{input: in, runs: make(map[program][]run)}
	var sizes []int64
	slowRounds := 3 // enough for programs that take many times what they are held against
	if len(in.streams) > 1 {
		slowRounds = 1
	}
	for _, s := range in.streams {
		sizes = append(sizes, s.size)
		failed := make(map[program]bool)
		for round := range in.rounds {
			for _, p := range programs {
				slow := p == kustomize || p == helm
				if slow && (round >= slowRounds || failed[p]) || p == kustomize && s.kustomization == "" || p == helm && s.helmArgs == nil {
					continue
				}
				r, err := b.once(p, s)
				if err != nil && p == kustomize {
					failed[p] = true
					continue
				}
				if err != nil {
					return m, err
				}
				m.runs[p] = append(m.runs[p], r)
			}
		}
	}
	m.size = median(sizes)
	return m, nil
}

// cpu returns the median CPU time of a program; ok says whether it ran.
func (m measured) cpu(p program) (_ time.Duration, ok bool) {
	var all []time.Duration
	for _, r := range m.runs[p] {
		all = append(all, r.cpu)
	}
	return median(all), len(all) > 0
}

// peak returns the median of a program's peak memory.
func (m measured) peak(p program) int64 {
	var all []int64
	for _, r := range m.runs[p] {
		all = append(all, r.peak)
	}
	return median(all)
}

// share returns the median over the rounds of what helm-checksum took, as a share of
// factor times what another program took beside it, plus extra.
func (m measured) share(factor float64, than program, extra time.Duration) float64 {
	var all []float64
	for i, r := range m.runs[checksum] {
		all = append(all, float64(r.cpu)/(factor*float64(m.runs[than][i].cpu)+float64(extra)))
	}
	return median(all)
}

// peakShare is the like for its peak memory and the bytes of the input.
func (m measured) peakShare(factor float64, extra int64) float64 {
	return float64(m.peak(checksum)) / (factor*float64(m.size) + float64(extra))
}

func median[T ~int64 | ~float64](all []T) T {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
