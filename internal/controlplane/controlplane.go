// Package controlplane runs a real Kubernetes control plane for tests, as plain
// local processes: etcd, kube-apiserver, kube-controller-manager, kube-scheduler
// and KWOK, whose nodes start pods at once and run nothing in them.
//
// All of them are one binary, built from the nested module e2e/controlplane and kept in
// the user's cache directory. They listen on the loopback interface only, on free ports,
// keep what they write in a temporary directory, and end with the process that
// started them, however that ends (where the system is Linux; elsewhere, unless it is
// killed).
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A Cluster is a running control plane.
type Cluster struct {
	// Dir holds all that the cluster writes, a log of each process among it. Stop removes it.
	Dir string
	// Kubeconfig is the path of a kubeconfig file with every right.
	Kubeconfig string
	// Kubectl is the path of kubectl, in a directory of its own.
	Kubectl string
	// Config is what client-go takes.
	Config *rest.Config

	binary    string
	addresses addresses
	processes []*process // in the order in which they were started
	launcher  *launcher
	client    kubernetes.Interface
}

// Nodes is how many nodes a cluster has.
const Nodes = 2

// Start starts a control plane and waits until pods can run in it. Its binary is
// built if it is not in the cache, which takes minutes. On an error, and when ctx
// ends before it is done, nothing is left running.
func Start(ctx context.Context) (_ *Cluster, err error) {
	binary, err := Build(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "helm-checksum-controlplane-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Dir: dir, Kubeconfig: filepath.Join(dir, "kubeconfig"), binary: binary, launcher: newLauncher()}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if c.addresses, err = freeAddresses(); err != nil {
		return nil, err
	}
	if c.Kubectl, err = c.linkKubectl(); err != nil {
		return nil, err
	}
	if err := c.startAPIServer(ctx); err != nil {
		return nil, err
	}
	if err := c.startControllers(); err != nil {
		return nil, err
	}
	return c, c.waitForNodes(ctx)
}

// linkKubectl makes a kubectl that can be put on a PATH; the binary goes by its name.
func (c *Cluster) linkKubectl() (string, error) {
	bin := filepath.Join(c.Dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return "", err
	}
	kubectl := filepath.Join(bin, "kubectl")
	return kubectl, os.Symlink(c.binary, kubectl)
}

func (c *Cluster) startAPIServer(ctx context.Context) error {
	token, err := c.writeCredentials()
	if err != nil {
		return err
	}
	if err := c.start("etcd", c.etcdArguments()); err != nil {
		return err
	}
	if err := c.start("kube-apiserver", c.apiServerArguments()); err != nil {
		return err
	}
	if err := c.writeKubeconfig(ctx, token); err != nil {
		return err
	}
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return err
	}
	// Tests are in a hurry; the server defends itself.
	c.Config.QPS = -1
	if c.client, err = kubernetes.NewForConfig(c.Config); err != nil {
		return err
	}
	return c.waitForAPIServer(ctx)
}

func (c *Cluster) waitForAPIServer(ctx context.Context) error {
	return c.wait(ctx, "a ready API server", func(ctx context.Context) error {
		return c.client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	})
}

// RestartAPIServer ends kube-apiserver and starts it anew, with the same data on the
// same port, and waits until it is ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	for i, p := range c.processes {
		if p.name != "kube-apiserver" {
			continue
		}
		p.stop()
		next, err := c.launcher.start(p.name, c.binary, p.arguments, p.log)
		if err != nil {
			return err
		}
		c.processes[i] = next
		return c.waitForAPIServer(ctx)
	}
	return errors.New("the cluster has no kube-apiserver: it was stopped")
}

// Stop ends all processes and removes what they wrote. It can be called again.
func (c *Cluster) Stop() error {
	for i := len(c.processes) - 1; i >= 0; i-- {
		c.processes[i].stop()
	}
	c.processes = nil
	c.launcher.close()
	return os.RemoveAll(c.Dir)
}

func (c *Cluster) start(name string, arguments []string) error {
	p, err := c.launcher.start(name, c.binary, arguments, filepath.Join(c.Dir, name+".log"))
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

// patience is how long Start waits for one step on a slow machine.
const patience = 5 * time.Minute

// wait calls check until it returns no error. It gives up when ctx or its patience
// ends, or as soon as a process has died.
func (c *Cluster) wait(ctx context.Context, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		last := check(ctx)
		if last == nil {
			return nil
		}
		for _, p := range c.processes {
			if p.ended() {
				return fmt.Errorf("%s ended while waiting for %s; the end of its log:\n%s", p.name, what, p.tail())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; last: %w", what, ctx.Err(), last)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
