//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	live "github.com/helm-checksum/helm-checksum/internal/cluster"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// A large cluster, and what a look at it may cost. The limits are for a busy machine
// of two cores that runs the API server too; docs/cluster.md has what was measured.
const (
	largeDeployments = 500
	largePods        = 10   // of each
	largeConfigMaps  = 4    // of each
	largeContent     = 20e3 // bytes of each ConfigMap, 40 MB in all
	largeTime        = 30 * time.Second
	largeHeap        = 40e6 // bytes, beside what was there before: the content alone is more, and the pods are more again
)

func TestStatusOfALargeCluster(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 5,000 pods")
	}
	ns := newNamespace(t, nil)
	engine, err := renderer.New(renderer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	content := strings.Repeat("0123456789abcde ", largeContent/16)
	var group sync.WaitGroup
	names := make(chan string)
	for range 8 {
		group.Go(func() {
			for name := range names {
				out, err := engine.Run(bytes.NewBufferString(largeRelease(name, content)))
				if err != nil {
					t.Error(err)
					continue
				}
				for document := range strings.SplitSeq(out.String(), "---\n") {
					o := parse(t, document)
					if _, err := resourceFor(t, ns, o).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	began := time.Now()
	for i := range largeDeployments {
		names <- fmt.Sprintf("app-%03d", i)
	}
	close(names)
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	waitForRunning(t, ns, largeDeployments*largePods, 4*patience)
	nextSecond()
	kubectlPatch(t, ns, "configmap", "app-007-config-2", "LEVEL", "debug")
	t.Logf("made in %s", time.Since(began).Round(time.Second))

	c, err := live.New(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	// The quickest of a few looks tells what it takes, if the machine has other work.
	var r *live.Report
	took := time.Hour
	for look := 0; look < 3 && (look == 0 || took > largeTime); look++ {
		began = time.Now()
		if r, err = c.Status(t.Context(), live.Options{Namespaces: []string{ns}}); err != nil {
			t.Fatal(err)
		}
		took = min(took, time.Since(began))
	}
	// Once more for the memory: watching it takes time.
	heap := watchHeap()
	if _, err := c.Status(t.Context(), live.Options{Namespaces: []string{ns}}); err != nil {
		t.Fatal(err)
	}
	peak := heap()
	t.Logf("%d pods, %d lines: %s, %.1f MB of heap", r.Pods, len(r.Items), took.Round(time.Millisecond), float64(peak)/1e6)
	if r.Pods != largeDeployments*largePods || len(r.Items) != largeDeployments*largeConfigMaps {
		t.Errorf("%d pods and %d lines, want %d and %d", r.Pods, len(r.Items), largeDeployments*largePods, largeDeployments*largeConfigMaps)
	}
	if r.Summary[live.Stale] != 1 || r.Summary[live.Current] != len(r.Items)-1 || r.Items[0].Workload.Name != "app-007" || r.Items[0].Pods.States[live.Stale] != largePods {
		t.Errorf("summary = %v, first = %+v", r.Summary, r.Items[0])
	}
	if took > largeTime {
		t.Errorf("took %s, more than %s", took, largeTime)
	}
	if peak > largeHeap {
		t.Errorf("took %d bytes of heap, more than %d", peak, int(largeHeap))
	}
}

// largeRelease is a Deployment and the ConfigMaps that it reads. Its pods need no
// scheduler, which would take most of the time.
func largeRelease(name, content string) string {
	var documents, from strings.Builder
	for i := range largeConfigMaps {
		config := fmt.Sprintf("%s-config-%d", name, i)
		fmt.Fprintf(&documents, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {app: %s}}\ndata: {LEVEL: info, TEXT: %q}\n---\n", config, name, content)
		fmt.Fprintf(&from, "{configMapRef: {name: %s}}, ", config)
	}
	return documents.String() + deploymentOf(name, largePods, "nodeName: node-0, containers: [{name: app, image: app, envFrom: ["+from.String()+"]}]", "")
}

func waitForRunning(t *testing.T, namespace string, pods int, limit time.Duration) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		running, token := 0, ""
		for {
			list, err := clients().typed.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{
				Limit: 1000, Continue: token, FieldSelector: "status.phase=Running"})
			if err != nil {
				t.Fatal(err)
			}
			running += len(list.Items)
			if token = list.Continue; token == "" {
				break
			}
		}
		if running == pods {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d pods run after %s, %d are wanted", running, limit, pods)
		}
		time.Sleep(2 * time.Second)
	}
}

// watchHeap returns a function that returns the most heap in use from now on, beside
// what is in use now. The garbage collector is made to run often meanwhile, for what
// counts is what is held, not what is dropped.
func watchHeap() (peak func() uint64) {
	read := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := read()
	percent := debug.SetGCPercent(10)
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			if now := read(); now > before {
				most.Store(max(most.Load(), now-before))
			}
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		debug.SetGCPercent(percent)
		return most.Load()
	}
}
