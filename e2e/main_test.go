//go:build e2e

// Package e2e tests the product on a real API server and with real Helm 3 and Helm 4.
//
// All tests share one control plane (internal/controlplane), each has namespaces of its
// own. Run them with "make e2e".
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/helm-checksum/helm-checksum/internal/controlplane"
)

// cluster is the control plane of all tests.
var cluster *controlplane.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	// make and the go command pass no signal on when one of them alone is told to end.
	go func() {
		for parent := os.Getppid(); ctx.Err() == nil; time.Sleep(time.Second) {
			if os.Getppid() != parent {
				signal.Ignore(syscall.SIGPIPE) // nobody reads what is said from now on
				cancel()
			}
		}
	}()
	started = &programs{ctx: ctx}
	defer started.wait()
	var err error
	if cluster, err = controlplane.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "starting the control plane:", err)
		return 1
	}
	defer func() {
		if err := cluster.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the control plane:", err)
			code = 1
		}
	}()
	// Whatever the tests start finds the cluster, and nothing of the user's.
	os.Setenv("KUBECONFIG", cluster.Kubeconfig)
	os.Setenv("TMPDIR", cluster.Dir)
	os.Setenv("PATH", filepath.Dir(cluster.Kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
	done := make(chan int, 1)
	go func() { done <- m.Run() }()
	select {
	case code = <-done:
		return code
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "interrupted: ending what was started")
		return 1
	}
}
