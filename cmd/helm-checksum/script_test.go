package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helm-checksum/helm-checksum/internal/realhelm"
)

var update = flag.Bool("update", false, "rewrite the expected results")

// TestMain lets the scripts in testdata/script run this program as helm-checksum.
func TestMain(m *testing.M) {
	testscript.Main(cleaningUp{m}, map[string]func(){"helm-checksum": main})
}

type cleaningUp struct{ m *testing.M }

func (c cleaningUp) Run() int {
	status := c.m.Run()
	realhelm.CleanUp()
	if release.dir != "" {
		os.RemoveAll(release.dir)
	}
	return status
}

// TestScripts runs the sessions in testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// Where this program is, and nothing that the user has on PATH.
			own, _, _ := strings.Cut(e.Getenv("PATH"), string(os.PathListSeparator))
			e.Setenv("OWN_BIN", own)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
	})
}

// exits runs "exits STATUS PROGRAM ARGUMENT..." and checks the exit status, which
// "exec" tells apart only as zero or not.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARGUMENT...")
	}
	got := "0"
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = strconv.Itoa(exit.ExitCode())
	} else {
		ts.Check(err)
	}
	if got != args[0] {
		ts.Fatalf("%v: exit status %s, want %s", args[1:], got, args[0])
	}
}
