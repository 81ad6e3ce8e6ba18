package cluster

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// A lineKey is one workload and one object that its pods consume.
type lineKey struct {
	owner  *workload
	object objectKey
}

// A line gathers the pods of one workload that consume one object.
type line struct {
	pods []reading
}

// A reading is one pod of a line: what it consumes of the object, and since when.
type reading struct {
	pod         string
	start       int64 // Unix seconds; 0 if no container that consumes it has started
	consumption *consumption
	stamps      map[string]string // the pod's
}

// stamp returns the pod's checksum of the object, or "".
func (r *reading) stamp() string {
	for _, key := range r.consumption.stamps {
		if value, ok := r.stamps[key]; ok {
			return value
		}
	}
	return ""
}

// readings is all that is kept of the pods.
type readings struct {
	lines map[lineKey]*line
	pods  int // looked at
}

func newReadings() *readings { return &readings{lines: map[lineKey]*line{}} }

func (r *readings) add(p *corev1.Pod, owner *workload, s *shape) {
	r.pods++
	if len(s.consumes) == 0 {
		return
	}
	k := readClock(p)
	stamps := stampsOf(p.Annotations)
	if maps.Equal(stamps, owner.template) { // the usual case: not kept once per pod
		stamps = owner.template
	}
	for i := range s.consumes {
		c := &s.consumes[i]
		key := lineKey{owner, c.object}
		l := r.lines[key]
		if l == nil {
			l = &line{}
			r.lines[key] = l
		}
		l.pods = append(l.pods, reading{pod: p.Name, start: k.oldest(c.readers), consumption: c, stamps: stamps})
	}
}
