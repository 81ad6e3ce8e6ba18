// Command helm-checksum is a Helm post-renderer: it reads rendered manifests on
// stdin, writes checksums of the ConfigMaps and Secrets that each workload consumes
// into its pod template, and prints the result. Its subcommands look at streams.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

func main() {
	// A reader that has gone away is an error like any other, not a signal's end.
	signal.Ignore(syscall.SIGPIPE)
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	err := a.run(os.Args[1:])
	if err != nil && !errors.Is(err, cli.ErrDifference) {
		a.fail(err)
	}
	os.Exit(cli.ExitStatus(err))
}

// fail says what went wrong, where someone can see it.
func (a *app) fail(err error) {
	message := cli.PrintableMessage(fmt.Sprintf("helm-checksum: %v\n", err))
	fmt.Fprint(a.stderr, message)
	a.log(message)
	if a.hiddenByHelm() {
		writeToTerminal(message)
	}
}
