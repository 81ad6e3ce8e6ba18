package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// startControllers starts what makes a cluster of an API server.
func (c *Cluster) startControllers() error {
	printed, err := exec.Command(c.binary, "stages").Output()
	if err != nil {
		return fmt.Errorf("printing KWOK's stages: %w", err)
	}
	if err := os.WriteFile(c.file(stages), printed, 0o600); err != nil {
		return err
	}
	if err := c.start("kube-controller-manager", c.controllerManagerArguments()); err != nil {
		return err
	}
	if err := c.start("kube-scheduler", c.controllerArguments()); err != nil {
		return err
	}
	return c.start("kwok", c.kwokArguments())
}

// waitForNodes adds the nodes and waits until pods can be scheduled to them.
func (c *Cluster) waitForNodes(ctx context.Context) error {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("1000Gi"),
		corev1.ResourcePods:   resource.MustParse("10000"),
	}
	for i := range Nodes {
		name := fmt.Sprintf("node-%d", i)
		node := &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"}},
			Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
		}
		if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return c.wait(ctx, "nodes that take pods", func(ctx context.Context) error {
		nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, n := range nodes.Items {
			if len(n.Spec.Taints) > 0 || !ready(n) {
				return errors.New(n.Name + " is not ready")
			}
		}
		_, err = c.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func ready(n corev1.Node) bool {
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
