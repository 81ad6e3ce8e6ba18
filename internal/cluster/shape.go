package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// An objectKey names a ConfigMap or Secret.
type objectKey struct{ kind, namespace, name string }

// A consumption is what every pod of one shape reads of one object.
type consumption struct {
	object   objectKey
	keys     []string // ["*"] is all
	optional bool
	via      []string
	readers  readers
	stamps   [2]string // the annotation keys that may hold the checksum, CONTRACT.md section 5
}

// A shape is what many pods have in common: where they refer to configuration.
type shape struct {
	document *corev1.Pod // until it is planned
	origin   string      // the first workload seen with it, for messages
	consumes []consumption
}

// shapes asks the engine who consumes what, once for pods that refer to the same.
type shapes struct {
	engine   *renderer.Renderer
	known    map[[sha256.Size]byte]*shape
	waiting  []*shape
	problems []string // documents that the engine refuses, a bad control for example
}

func newShapes(ignoreSecrets bool) (*shapes, error) {
	engine, err := renderer.New(renderer.Options{IgnoreSecrets: ignoreSecrets})
	if err != nil {
		return nil, err
	}
	return &shapes{engine: engine, known: map[[sha256.Size]byte]*shape{}}, nil
}

// add returns the shape of a pod. It is empty until plan has run.
func (s *shapes) add(p *corev1.Pod, w *workload) (*shape, error) {
	d := document(p, w.controls)
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	sum := sha256.Sum256(text)
	if known, ok := s.known[sum]; ok {
		return known, nil
	}
	found := &shape{document: d, origin: w.String()}
	s.known[sum] = found
	s.waiting = append(s.waiting, found)
	return found, nil
}

// plan asks the engine about the shapes added since it last ran. If it refuses
// one, for a bad control, the others are still answered.
func (s *shapes) plan() {
	waiting := s.waiting
	s.waiting = nil
	if err := s.planTogether(waiting); err != nil {
		for _, one := range waiting {
			if err := s.planTogether([]*shape{one}); err != nil {
				s.problems = append(s.problems, fmt.Sprintf("%s: what its pods consume can't be told: %s", one.origin, withoutPlace(err)))
			}
		}
	}
	for _, one := range waiting {
		one.document = nil
	}
}

// withoutPlace leaves out of the engine's error where in the stream it is: the
// stream is ours, and the pod is named already.
func withoutPlace(err error) string {
	var placed *renderer.Error
	if errors.As(err, &placed) {
		err = placed.Err
	}
	return oneLine(err.Error())
}

func (s *shapes) planTogether(list []*shape) error {
	if len(list) == 0 {
		return nil
	}
	var stream bytes.Buffer
	for i, one := range list {
		one.document.Name = strconv.Itoa(i)
		text, err := json.Marshal(one.document)
		if err != nil {
			return err
		}
		stream.WriteString("---\n")
		stream.Write(text)
		stream.WriteByte('\n')
	}
	plan, err := s.engine.Plan(stream.Bytes())
	if err != nil {
		return err
	}
	for _, w := range plan.Workloads {
		i, err := strconv.Atoi(w.Name)
		if err != nil || i < 0 || i >= len(list) {
			return fmt.Errorf("the engine answered for a pod %q that was not asked about", w.Name)
		}
		list[i].consumes = consumptions(list[i].document, w.Consumes)
	}
	return nil
}

func consumptions(p *corev1.Pod, plan []renderer.Consumption) []consumption {
	var list []consumption
	for _, c := range plan {
		if c.Status == renderer.Ignored {
			continue
		}
		namespace := c.Namespace
		if namespace == "" {
			namespace = p.Namespace
		}
		list = append(list, consumption{
			object:   objectKey{c.Kind, namespace, c.Name},
			keys:     slices.Clone(c.Keys),
			optional: c.Optional,
			via:      slices.Clone(c.Via),
			readers:  readersOf(p, c.Via),
			stamps: [2]string{
				renderer.AnnotationKey(c.Kind, c.Name, ""),
				renderer.AnnotationKey(c.Kind, c.Name, namespace),
			},
		})
	}
	return list
}
