// Command flux-checksum keeps the stamps of Flux HelmReleases in Git right, and looks at
// charts, releases and clusters. It runs by its own name, as a plugin of the Flux CLI
// (flux checksum), and behind the Helm plugin (helm checksum).
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

func main() {
	os.Exit(run(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is main as a function: arguments with the program's name first, in; exit status, out.
func run(args, environ []string, stdin, stdout, stderr *os.File) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{name: calledAs(args[0], environ), environ: environ, stdin: stdin, stdout: stdout, stderr: stderr}
	cmd := a.command()
	cmd.SetArgs(args[1:])
	cmd.SetIn(stdin)
	cmd.SetErr(stderr)
	err := cli.Execute(ctx, cmd, stdout)
	if err != nil && !errors.Is(err, cli.ErrDifference) && !errors.Is(err, errSaid) {
		fmt.Fprintf(stderr, "✗ %v\n", err)
	}
	return cli.ExitStatus(err)
}
