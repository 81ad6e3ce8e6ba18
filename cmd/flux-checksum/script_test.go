package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected files in the scripts")

func TestMain(m *testing.M) {
	program := os.Args[0] // testscript takes the directory off it
	testscript.Main(m, map[string]func(){
		"flux-checksum": func() {
			args := append([]string{program}, os.Args[1:]...)
			os.Exit(run(args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs the sessions in testdata/script. Each begins in a folder of its own
// that is the root of a checkout.
func TestScripts(t *testing.T) {
	charts, err := filepath.Abs("../../charts-testdata")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("flux-checksum")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CHARTS", charts)
			env.Setenv("PROGRAM", program)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
			env.Setenv("HOME", env.WorkDir)
			return os.Mkdir(filepath.Join(env.WorkDir, ".git"), 0o755)
		},
	})
}
