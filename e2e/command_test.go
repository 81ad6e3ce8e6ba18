//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// programs are those that tests have started. They end when the tests are interrupted.
type programs struct {
	ctx     context.Context
	mutex   sync.Mutex // guards the step from "not interrupted" to "one more runs"
	running sync.WaitGroup
}

// started is made by TestMain.
var started *programs

// run runs a program until it ends, and returns what it wrote to stdout. Its error has what it
// wrote to stderr.
func (p *programs) run(stdin, name string, args ...string) (string, error) {
	p.mutex.Lock()
	if err := p.ctx.Err(); err != nil {
		p.mutex.Unlock()
		return "", err
	}
	p.running.Add(1)
	p.mutex.Unlock()
	defer p.running.Done()

	cmd := exec.CommandContext(p.ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it may have to end others
	cmd.WaitDelay = 10 * time.Second
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// wait returns when all have ended, which they do once ctx is done.
func (p *programs) wait() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.running.Wait()
}

// command runs a program and returns what it wrote to stdout; it must succeed.
func command(t *testing.T, stdin, name string, args ...string) string {
	t.Helper()
	out, err := started.run(stdin, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// commandExits runs a program that must end with an exit status, and returns what it wrote to
// stdout, and an error with what it wrote to stderr.
func commandExits(t *testing.T, status int, name string, args ...string) (string, error) {
	t.Helper()
	out, err := started.run("", name, args...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != status {
		t.Fatalf("%s %s: exit status %d, want %d\n%s%v", name, strings.Join(args, " "), got, status, out, err)
	}
	return out, err
}
