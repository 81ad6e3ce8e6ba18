//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// patience is how long a test waits for the cluster to do something, on a machine that has
// other work.
const patience = 5 * time.Minute

// clients are made once: the cluster is the same for all tests.
var clients = sync.OnceValue(func() (c struct {
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}) {
	// The API server warns of outdated volumes, which are among those to be tested.
	cluster.Config.WarningHandler = rest.NoWarnings{}
	c.typed = kubernetes.NewForConfigOrDie(cluster.Config)
	c.dynamic = dynamic.NewForConfigOrDie(cluster.Config)
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.typed.Discovery()))
	return c
})

// policyLabel is what the default policy's binding selects namespaces by.
var policyLabel = map[string]string{"helm-checksum/policy": "enabled"}

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T, labels map[string]string) string {
	t.Helper()
	ns, err := clients().typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-", Labels: labels},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = clients().typed.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{})
	})
	return ns.Name
}

func parse(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &o.Object); err != nil {
		t.Fatalf("%v in:\n%s", err, manifest)
	}
	return o
}

func resourceFor(t *testing.T, namespace string, o *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	gvk := o.GroupVersionKind()
	mapping, err := clients().mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		clients().mapper.Reset()
		mapping, err = clients().mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		t.Fatal(err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return clients().dynamic.Resource(mapping.Resource)
	}
	return clients().dynamic.Resource(mapping.Resource).Namespace(namespace)
}

// create creates an object from a manifest and returns it as the API server made it.
func create(t *testing.T, namespace, manifest string, dryRun ...string) *unstructured.Unstructured {
	t.Helper()
	o := parse(t, manifest)
	out, err := resourceFor(t, namespace, o).Create(t.Context(), o, metav1.CreateOptions{DryRun: dryRun})
	if err != nil {
		t.Fatalf("%v for:\n%s", err, manifest)
	}
	return out
}

// apply applies an object server-side, as Helm 4 and Flux do.
func apply(t *testing.T, namespace, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := parse(t, manifest)
	out, err := resourceFor(t, namespace, o).Apply(t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "e2e", Force: true})
	if err != nil {
		t.Fatalf("%v for:\n%s", err, manifest)
	}
	return out
}

// get reads an object anew.
func get(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out, err := resourceFor(t, o.GetNamespace(), o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// configMap and secretObject are config objects with one key.
func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: %q}\n", name, value)
}

func secretObject(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s}\nstringData: {key: %q}\n", name, value)
}

// annotationsAt returns the annotations of the pod template at a path.
func annotationsAt(t *testing.T, o *unstructured.Unstructured, path ...string) map[string]string {
	t.Helper()
	out, _, err := unstructured.NestedStringMap(o.Object, append(path, "metadata", "annotations")...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// templateAnnotations returns the annotations of the pod template at spec.template.
func templateAnnotations(t *testing.T, o *unstructured.Unstructured) map[string]string {
	t.Helper()
	return annotationsAt(t, o, "spec", "template")
}

// eventually waits until check returns an empty string, which otherwise says what is amiss.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		amiss := check()
		if amiss == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(amiss)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// nextSecond waits until the second is over: what is written from now on has a later time than
// what was before, of which Kubernetes records whole seconds.
func nextSecond() { time.Sleep(1100 * time.Millisecond) }
