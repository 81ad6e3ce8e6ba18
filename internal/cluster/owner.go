package cluster

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Where Helm and Flux write which release an object belongs to.
const (
	releaseAnnotation = "meta.helm.sh/release-name"
	helmReleaseLabel  = "helm.toolkit.fluxcd.io/name"
	instanceLabel     = "app.kubernetes.io/instance" // by convention, on pods too
)

// intermediate are the kinds that another workload makes for each of its revisions
// or runs: the one that people know is their owner.
var intermediate = map[string]bool{"ReplicaSet": true, "ReplicationController": true, "Job": true}

// A workload is what a pod belongs to, as far as a verdict needs it.
type workload struct {
	apiVersion, kind, namespace, name string

	read        bool // its metadata is known
	release     string
	helmRelease string
	controls    map[string]string // consumptionControls
	owner       *metav1.OwnerReference

	// Of the built-in workloads only, for the policy's stamps.
	template map[string]string // the stamps on the pod template
	written  int64             // Unix seconds of the newest write, status and scale apart
	version  string            // resourceVersion
}

func (w *workload) String() string { return w.kind + " " + w.namespace + "/" + w.name }

type workloadKey struct{ group, kind, namespace, name string }

func keyOf(apiVersion, kind, namespace, name string) workloadKey {
	gv, _ := schema.ParseGroupVersion(apiVersion) // one that can't be parsed has no group
	return workloadKey{gv.Group, kind, namespace, name}
}

// owners finds the workload of a pod. Kinds other than the built-in ones are
// listed, by metadata alone, when the first pod of such an owner comes.
type owners struct {
	reader *reader
	known  map[workloadKey]*workload
	loaded map[[3]string]bool // scope, apiVersion, kind
}

func newOwners(r *reader) *owners {
	return &owners{reader: r, known: map[workloadKey]*workload{}, loaded: map[[3]string]bool{}}
}

func (o *owners) keep(apiVersion, kind string, m *metav1.ObjectMeta) *workload {
	w := &workload{apiVersion: apiVersion, kind: kind, namespace: m.Namespace, name: m.Name}
	w.describe(m)
	o.known[keyOf(apiVersion, kind, m.Namespace, m.Name)] = w
	return w
}

func (w *workload) describe(m *metav1.ObjectMeta) {
	w.read = true
	w.release = m.Annotations[releaseAnnotation]
	w.helmRelease = m.Labels[helmReleaseLabel]
	w.owner = metav1.GetControllerOfNoCopy(m)
	for _, control := range consumptionControls {
		if v, ok := m.Annotations[control]; ok {
			if w.controls == nil {
				w.controls = map[string]string{}
			}
			w.controls[control] = v
		}
	}
}

// loadBuiltIn lists the workloads whose pod templates the policy stamps.
func (o *owners) loadBuiltIn(ctx context.Context, scope string) error {
	const apps = "apps/v1"
	keep := func(kind string, m *metav1.ObjectMeta, template *corev1.PodTemplateSpec) {
		w := o.keep(apps, kind, m)
		w.template = stampsOf(template.Annotations)
		w.written = specWritten(m)
		w.version = m.ResourceVersion
	}
	list := func(kind, resource string, page func(metav1.ListOptions) (metav1.ListInterface, error)) error {
		o.loaded[[3]string{scope, apps, kind}] = true
		err := o.reader.pages(ctx, page)
		if apierrors.IsForbidden(err) {
			o.reader.note(resource+".apps", scope, err)
			return nil
		}
		return o.reader.explain(err, "listing "+resource)
	}
	client := o.reader.typed.AppsV1()
	err := list("Deployment", "deployments", func(lo metav1.ListOptions) (metav1.ListInterface, error) {
		l, err := client.Deployments(scope).List(ctx, lo)
		if err != nil {
			return nil, err
		}
		for i := range l.Items {
			keep("Deployment", &l.Items[i].ObjectMeta, &l.Items[i].Spec.Template)
		}
		return l, nil
	})
	if err != nil {
		return err
	}
	err = list("StatefulSet", "statefulsets", func(lo metav1.ListOptions) (metav1.ListInterface, error) {
		l, err := client.StatefulSets(scope).List(ctx, lo)
		if err != nil {
			return nil, err
		}
		for i := range l.Items {
			keep("StatefulSet", &l.Items[i].ObjectMeta, &l.Items[i].Spec.Template)
		}
		return l, nil
	})
	if err != nil {
		return err
	}
	return list("DaemonSet", "daemonsets", func(lo metav1.ListOptions) (metav1.ListInterface, error) {
		l, err := client.DaemonSets(scope).List(ctx, lo)
		if err != nil {
			return nil, err
		}
		for i := range l.Items {
			keep("DaemonSet", &l.Items[i].ObjectMeta, &l.Items[i].Spec.Template)
		}
		return l, nil
	})
}

// of returns the workload that a pod belongs to: the pod itself if nothing controls it.
func (o *owners) of(ctx context.Context, scope string, p *corev1.Pod) (*workload, error) {
	ref := metav1.GetControllerOfNoCopy(p)
	if ref == nil || ref.Kind == "Node" { // a static pod is its node's
		w := &workload{apiVersion: "v1", kind: "Pod", namespace: p.Namespace, name: p.Name}
		w.describe(&p.ObjectMeta)
		w.owner, w.controls = nil, nil // the pod's own controls are read with the pod
		return w, nil
	}
	// A Deployment names its ReplicaSets after itself and the hash that their pods are labelled with.
	if hash := p.Labels["pod-template-hash"]; ref.Kind == "ReplicaSet" && hash != "" {
		if name, ok := strings.CutSuffix(ref.Name, "-"+hash); ok {
			if w, ok := o.known[keyOf(ref.APIVersion, "Deployment", p.Namespace, name)]; ok {
				return w, nil
			}
		}
	}
	w, err := o.get(ctx, scope, p.Namespace, ref)
	for err == nil && intermediate[w.kind] && w.owner != nil {
		w, err = o.get(ctx, scope, p.Namespace, w.owner)
	}
	return w, err
}

// get returns the workload of a reference. One that can't be read, or was deleted since, has only a name.
func (o *owners) get(ctx context.Context, scope, namespace string, ref *metav1.OwnerReference) (*workload, error) {
	key := keyOf(ref.APIVersion, ref.Kind, namespace, ref.Name)
	if w, ok := o.known[key]; ok {
		return w, nil
	}
	if load := [3]string{scope, ref.APIVersion, ref.Kind}; !o.loaded[load] {
		o.loaded[load] = true
		if err := o.load(ctx, scope, ref); err != nil {
			return nil, err
		}
		if w, ok := o.known[key]; ok {
			return w, nil
		}
	}
	w := &workload{apiVersion: ref.APIVersion, kind: ref.Kind, namespace: namespace, name: ref.Name}
	o.known[key] = w
	return w, nil
}

// load lists the metadata of all objects of the reference's kind.
func (o *owners) load(ctx context.Context, scope string, ref *metav1.OwnerReference) error {
	resource, namespaced, err := o.reader.resource(ctx, ref.APIVersion, ref.Kind)
	if err != nil {
		o.reader.note(ref.Kind+" ("+ref.APIVersion+")", scope, err)
		return nil
	}
	if !namespaced { // such an owner is not one that a release's workload has
		return nil
	}
	err = o.reader.metadata(ctx, resource, scope, func(m *metav1.ObjectMeta) {
		o.keep(ref.APIVersion, ref.Kind, m)
	})
	if apierrors.IsForbidden(err) {
		o.reader.note(resource.GroupResource().String(), scope, err)
		return nil
	}
	return o.reader.explain(err, "listing "+resource.GroupResource().String())
}

// belongs says whether a pod's workload, or one that controls that, is of the
// release or HelmRelease. Where metadata can't be read the pod's own labels decide.
func (o *owners) belongs(ctx context.Context, scope string, w *workload, p *corev1.Pod, release string) (bool, error) {
	for range 5 { // Knative has the longest chain that is known
		if w.of(release) {
			return true, nil
		}
		if !w.read {
			return p.Labels[instanceLabel] == release, nil
		}
		if w.owner == nil {
			return false, nil
		}
		var err error
		if w, err = o.get(ctx, scope, w.namespace, w.owner); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (w *workload) of(release string) bool { return w.release == release || w.helmRelease == release }

// anyOf says whether a workload of the release was seen, be it without pods.
func (o *owners) anyOf(release string) bool {
	for _, w := range o.known {
		if w.of(release) {
			return true
		}
	}
	return false
}

// specWritten returns when a workload was last written, other than by its controller
// and by scaling: only such writes meet the policy.
func specWritten(m *metav1.ObjectMeta) int64 {
	t := m.CreationTimestamp.Unix()
	for _, e := range m.ManagedFields {
		if e.Subresource == "" && e.Time != nil {
			t = max(t, e.Time.Unix())
		}
	}
	return t
}

// stampsOf returns the annotations that are stamps, those of the policy included.
func stampsOf(annotations map[string]string) map[string]string {
	var stamps map[string]string
	for key, value := range annotations {
		if strings.HasPrefix(key, "helm-checksum/configmap") || strings.HasPrefix(key, "helm-checksum/secret") {
			if stamps == nil {
				stamps = map[string]string{}
			}
			stamps[key] = value
		}
	}
	return stamps
}
