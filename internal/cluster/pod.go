package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The controls of CONTRACT.md section 6 that say what a workload consumes.
var consumptionControls = []string{"helm-checksum/consumes", "helm-checksum/ignore"}

// document returns the pod as far as the engine needs it: where it may refer to
// configuration, and its controls, united with those of its workload. What differs
// between the pods of one template is left out, and so are literal values.
func document(p *corev1.Pod, workloadControls map[string]string) *corev1.Pod {
	d := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace},
	}
	for _, control := range consumptionControls {
		if v := unite(p.Annotations[control], workloadControls[control]); v != "" {
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, control, v)
		}
	}
	d.Spec.InitContainers = documentContainers(p.Spec.InitContainers)
	d.Spec.Containers = documentContainers(p.Spec.Containers)
	for _, v := range p.Spec.Volumes {
		if injected(v) {
			continue
		}
		if v.PersistentVolumeClaim != nil { // named after the pod in a StatefulSet
			v = corev1.Volume{Name: v.Name}
		}
		d.Spec.Volumes = append(d.Spec.Volumes, v)
	}
	return d
}

func documentContainers(containers []corev1.Container) []corev1.Container {
	var list []corev1.Container
	for _, c := range containers {
		d := corev1.Container{Name: c.Name, EnvFrom: c.EnvFrom}
		for _, e := range c.Env {
			if e.ValueFrom != nil {
				d.Env = append(d.Env, e)
			}
		}
		for _, m := range c.VolumeMounts {
			d.VolumeMounts = append(d.VolumeMounts, corev1.VolumeMount{
				Name: m.Name, MountPath: m.MountPath, SubPath: m.SubPath, SubPathExpr: m.SubPathExpr,
			})
		}
		list = append(list, d)
	}
	return list
}

// injected says whether the volume is the one that the ServiceAccount admission
// plugin puts into every pod: the API server's CA, which clients reload.
func injected(v corev1.Volume) bool {
	if !strings.HasPrefix(v.Name, "kube-api-access-") || v.Projected == nil {
		return false
	}
	for _, s := range v.Projected.Sources {
		if s.ServiceAccountToken != nil {
			return true
		}
	}
	return false
}

func unite(a, b string) string {
	if a == "" || a == b {
		return b
	}
	if b == "" {
		return a
	}
	return a + ", " + b
}

// readers are the parts of a pod that read one object, each at a time of its own.
type readers struct {
	containers map[string]bool // by name; init containers too, for their names are unique in a pod
	all        bool            // no place says which: every container counts
	mount      bool            // the kubelet reads it once, when it mounts a volume
	live       bool            // only through files that the kubelet keeps up to date
}

// readersOf finds the readers behind the engine's via, the places of one consumption.
func readersOf(p *corev1.Pod, via []string) readers {
	r := readers{containers: map[string]bool{}, live: len(via) > 0}
	for _, place := range via {
		list, name, field := splitVia(place)
		switch list {
		case "containers", "initContainers":
			r.containers[name] = true
			r.live = false
		case "volumes":
			if !strings.HasPrefix(field, "configMap") && !strings.HasPrefix(field, "secret") && !strings.HasPrefix(field, "projected") {
				r.mount, r.live = true, false
				continue
			}
			mounted := false
			for _, c := range p.Spec.Containers {
				if m, fixed := mounts(c, name); m {
					mounted, r.containers[c.Name] = true, true
					r.live = r.live && !fixed
				}
			}
			for _, c := range p.Spec.InitContainers {
				if m, fixed := mounts(c, name); m {
					mounted, r.containers[c.Name] = true, true
					r.live = r.live && !fixed && sidecar(c)
				}
			}
			if !mounted {
				r.all, r.live = true, false
			}
		default:
			r.all, r.live = true, false
		}
	}
	return r
}

// mounts says whether the container mounts the volume, and if so, whether some
// mount is of a subPath, which stays as it was when the container started.
func mounts(c corev1.Container, volume string) (mounted, fixed bool) {
	for _, m := range c.VolumeMounts {
		if m.Name == volume {
			mounted = true
			fixed = fixed || m.SubPath != "" || m.SubPathExpr != ""
		}
	}
	return mounted, fixed
}

// sidecar says whether an init container keeps running beside the others.
func sidecar(c corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// splitVia takes LIST[NAME].FIELD apart; another form gives all of it as LIST.
func splitVia(place string) (list, name, field string) {
	list, rest, ok := strings.Cut(place, "[")
	if !ok {
		return place, "", ""
	}
	name, field, ok = strings.Cut(rest, "].")
	if !ok {
		return place, "", ""
	}
	return list, name, field
}

// A clock says when the containers of one pod started, in Unix seconds.
type clock struct {
	pod        int64
	containers map[string]int64
}

// readClock takes the starts from the pod's status. An init container that has done
// its work still counts, while a container runs that may use what it made. A
// container that waits or has ended runs with nothing: it is left out.
func readClock(p *corev1.Pod) clock {
	k := clock{containers: map[string]int64{}}
	if p.Status.StartTime != nil {
		k.pod = p.Status.StartTime.Unix()
	}
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Running != nil && !s.State.Running.StartedAt.IsZero() {
			k.containers[s.Name] = s.State.Running.StartedAt.Unix()
		}
	}
	running := len(k.containers) > 0
	for _, s := range p.Status.InitContainerStatuses {
		switch {
		case s.State.Running != nil && !s.State.Running.StartedAt.IsZero():
			k.containers[s.Name] = s.State.Running.StartedAt.Unix()
		case running && s.State.Terminated != nil && !s.State.Terminated.StartedAt.IsZero():
			k.containers[s.Name] = s.State.Terminated.StartedAt.Unix()
		}
	}
	return k
}

// oldest returns when the oldest of the readers read, or 0 if none has yet.
func (k clock) oldest(r readers) int64 {
	var start int64
	older := func(t int64) {
		if t != 0 && (start == 0 || t < start) {
			start = t
		}
	}
	for name, t := range k.containers {
		if r.all || r.containers[name] {
			older(t)
		}
	}
	if r.mount && len(k.containers) > 0 {
		older(k.pod)
	}
	return start
}
