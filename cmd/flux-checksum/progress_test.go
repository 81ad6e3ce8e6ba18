package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// onTerminal runs the command in a directory with stderr on a terminal, and returns what
// the terminal got, once all who may write to it are gone.
func onTerminal(t *testing.T, dir string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("flux-checksum")
	if err != nil {
		t.Fatal(err)
	}
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer master.Close()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Stderr = slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	// Linux ends the reading of a terminal that no one has open with an error.
	var seen bytes.Buffer
	_, _ = io.Copy(&seen, master)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, seen.String())
	}
	return seen.String()
}

func TestProgressIsShownOnATerminal(t *testing.T) {
	dir := checkoutWithChart(t)
	for i := range 3 {
		write(t, dir, fmt.Sprintf("apps/%d.yaml", i), fmt.Sprintf(`apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web-%d, namespace: prod}
spec:
  chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: flux-system}}}
`, i))
	}
	seen := onTerminal(t, dir, "explain", "apps")
	const clear = "\r\x1b[K"
	var want strings.Builder
	for i := range 4 {
		fmt.Fprintf(&want, "%srendering %d/3", clear, i)
	}
	want.WriteString(clear)
	if !strings.HasPrefix(seen, want.String()) {
		t.Errorf("the terminal got %q, want it to begin with %q", seen, want.String())
	}
	if rest := strings.TrimPrefix(seen, want.String()); strings.Contains(rest, "rendering") {
		t.Errorf("progress goes on after it was taken away: %q", rest)
	}
}
