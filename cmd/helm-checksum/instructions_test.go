package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
)

// The instructions that the whole process takes, start-up aside, grow in proportion to
// the input, whatever is in it. Instructions do not vary with the machine's load as
// time does.
func TestInstructionsAreLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: counting instructions takes a minute")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		t.Skip("valgrind, which counts the instructions, is not installed")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "helm-checksum")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const size = 30_000
	empty := instructions(t, bin, nil)
	// The most that twice the input may take: it takes 2.0 to 2.1 where the time is
	// linear or n log n, and comes near 4 where each part meets each other part.
	const linear = 2.3
	worst := map[string]float64{
		"workloads": linear, "json-list": linear, "references": linear, "keys": linear,
		"stale-stamps": linear, "ignore": linear, "namespaces": linear, "one-name": linear,
		// Each workload's checksum is of a text of its own, with the value in it
		// (CONTRACT.md section 4): twice as many hash twice as much. More would be news.
		"value": 4.1,
	}
	for _, h := range genstream.HostileStreams() {
		most, ok := worst[h.Name]
		if !ok {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			once, twice := instructions(t, bin, h.Make(size))-empty, instructions(t, bin, h.Make(2*size))-empty
			ratio := float64(twice) / float64(once)
			t.Logf("%d, then %d: %.2f times; %d a byte", once, twice, ratio, twice/(2*size))
			if ratio > most {
				t.Errorf("%d bytes take %d instructions, twice as many take %d: %.2f times", size, once, twice, ratio)
			}
		})
	}
}

var instructionCount = regexp.MustCompile(`I +refs: +([0-9,]+)`)

// instructions counts those of one run. Garbage collection, which runs when it will,
// is left out: TestCost in renderer bounds what there is to collect.
func instructions(t *testing.T, bin string, stream []byte) int64 {
	t.Helper()
	cmd := exec.Command("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file="+os.DevNull, bin)
	// Valgrind does not know the instruction that GODEBUG turns off.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=cpu.rdtscp=off")
	cmd.Stdin = strings.NewReader(string(stream))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%.1000s", err, stderr.String())
	}
	m := instructionCount.FindStringSubmatch(stderr.String())
	if m == nil {
		t.Fatalf("valgrind prints no count:\n%.1000s", stderr.String())
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
