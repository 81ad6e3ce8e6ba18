package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// heavyTool has the Helm SDK and a Kubernetes client, which this program is to start
// without.
const heavyTool = "flux-checksum"

// handoverCommands are the commands that only the heavy tool has.
func (a *app) handoverCommands() []*cobra.Command {
	var all []*cobra.Command
	for _, c := range []struct{ use, short string }{
		{"status", "Find pods that run stale configuration (by flux-checksum)"},
		{"policy", "Print the cluster policy that stamps by itself (by flux-checksum)"},
		{"stamp", "Write the stamps of HelmReleases into their files (by flux-checksum)"},
	} {
		all = append(all, &cobra.Command{
			Use:                c.use,
			Short:              c.short,
			DisableFlagParsing: true,
			RunE:               func(*cobra.Command, []string) error { return a.runHeavy() },
			PersistentPreRunE:  func(*cobra.Command, []string) error { return nil },
			ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return nil, cobra.ShellCompDirectiveDefault
			},
		})
	}
	return all
}

// handOver runs the heavy tool when an argument is a chart or has HelmReleases
// (CONTRACT.md section 10), and says whether it did.
func (a *app) handOver(args []string) (done bool, err error) {
	for _, arg := range args {
		kind, err := cli.Classify(arg)
		if err != nil {
			if errors.Is(err, os.ErrNotExist) && heavyPath() != "" {
				kind = cli.Chart // a release's name, or a chart of a repository
			} else {
				return true, err
			}
		}
		if kind != cli.Stream {
			return true, a.runHeavy()
		}
	}
	return false, nil
}

// handOverFlags runs the heavy tool when a command was given a flag that it does not
// have but the heavy tool may (-f, --set), for something that is the heavy tool's to
// look at, and says whether it did.
func (a *app) handOverFlags(args []string) (done bool, err error) {
	for _, arg := range args {
		if kind, err := cli.Classify(arg); err == nil && kind != cli.Stream {
			return true, a.runHeavy()
		}
	}
	return false, nil
}

// heavyPath returns where the heavy tool is: beside this program, or on PATH.
func heavyPath() string {
	name := heavyTool
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside
		}
	}
	path, err := exec.LookPath(heavyTool)
	if err != nil {
		return ""
	}
	return path
}

// runHeavy runs the heavy tool with our own arguments, and exits as it does.
func (a *app) runHeavy() error {
	path := heavyPath()
	if path == "" {
		return fmt.Errorf("charts, HelmReleases and clusters are for %s, which is not installed beside this program or on PATH: "+
			"build it with `make build`, or take it from the release archives (see docs/flux.md); streams need no more than this program: helm template ... | %s explain",
			heavyTool, commandName())
	}
	cmd := exec.Command(path, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		os.Exit(exit.ExitCode()) // it has said why
	}
	if err != nil {
		return fmt.Errorf("%s: %w", heavyTool, err)
	}
	return nil
}
