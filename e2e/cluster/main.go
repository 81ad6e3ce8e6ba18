// Command cluster runs the tests' control plane for a person to play with: it prints
// how to reach it and keeps it up until it is interrupted. With -build it only
// makes sure that the control plane's binary is built.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/helm-checksum/helm-checksum/internal/controlplane"
)

func main() {
	build := flag.Bool("build", false, "build the control plane's binary, print its path, and do no more")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *build); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, build bool) error {
	if build {
		path, err := controlplane.Build(ctx)
		if err == nil {
			fmt.Println(path)
		}
		return err
	}
	c, err := controlplane.Start(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s PATH=%s:$PATH\n", c.Kubeconfig, filepath.Dir(c.Kubectl))
	fmt.Fprintln(os.Stderr, "the cluster runs until you press Ctrl-C")
	<-ctx.Done()
	return c.Stop()
}
