package renderer

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
)

// Status says what becomes of one consumption.
type Status string

// The statuses of CONTRACT.md section 9.
const (
	Stamped    Status = "stamped"
	External   Status = "external"    // no such object in the stream
	Ignored    Status = "ignored"     // left out by a control or an option
	Skipped    Status = "skipped"     // the object is not to be stamped for
	Ambiguous  Status = "ambiguous"   // objects of that name in several namespaces fit
	NotStamped Status = "not-stamped" // the workload as a whole is not stamped
)

// A Plan says who consumes what in a stream, and what is to be stamped. Its
// exported fields are plain data, the report of CONTRACT.md section 9.
type Plan struct {
	Workloads []Workload `json:"workloads"` // in stream order, one per pod template
	Configs   []Config   `json:"configs"`   // in stream order
	Warnings  []string   `json:"warnings"`

	stream []byte
	edits  []Edit

	// sources holds, for each of Workloads and each of its Consumes, the object in
	// the stream; nil if there is none.
	sources [][]*config
}

// A Workload is one pod template of an object in the stream.
type Workload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"` // the effective one; empty if unknown
	Name       string `json:"name"`      // a generateName ends with *
	Source     string `json:"source"`    // the chart's file, when the stream says so
	Template   string `json:"template"`  // where the pod template is, such as spec.template
	Stamped    bool   `json:"stamped"`
	Reason     string `json:"reason"` // why it is not stamped
	Note       string `json:"note"`   // what its rollout waits for
	Restyled   bool   `json:"restyled"`

	Consumes []Consumption `json:"consumes"` // by kind, then name

	// Found holds the stamps that the pod template has in the stream: annotation to
	// checksum. See Stamps for those that it is to have.
	Found map[string]string `json:"-"`

	kept map[string]string // of Found, those that stay as they are
}

// Stamps returns the stamps that the pod template is to have: annotation to checksum.
func (w *Workload) Stamps() map[string]string { return w.stampsIn(nil) }

// stampsIn is Stamps, in a map that is used again; nil for a new one.
func (w *Workload) stampsIn(m map[string]string) map[string]string {
	if m == nil {
		m = make(map[string]string)
	}
	clear(m)
	maps.Copy(m, w.kept)
	for i := range w.Consumes {
		if line := &w.Consumes[i]; line.Status == Stamped {
			m[line.Annotation] = line.Checksum
		}
	}
	return m
}

// String returns KIND/NAME, as messages name objects.
func (w *Workload) String() string { return w.Kind + "/" + w.Name }

// A Consumption is all that one pod template reads of one ConfigMap or Secret.
type Consumption struct {
	Kind       string   `json:"kind"` // ConfigMap or Secret
	Namespace  string   `json:"namespace"`
	Name       string   `json:"name"`
	Keys       []string `json:"keys"` // ascending; ["*"] for all
	Optional   bool     `json:"optional"`
	Via        []string `json:"via"` // such as containers[web].env[LOG_LEVEL]
	Status     Status   `json:"status"`
	Annotation string   `json:"annotation"` // the stamp's key; empty unless stamped
	Checksum   string   `json:"checksum"`   // the stamp's value; empty unless stamped
}

// A Config is a ConfigMap or Secret in the stream.
type Config struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Consumers int    `json:"consumers"` // pod templates that read it
}

// A planner makes one Plan.
type planner struct {
	*Renderer
	stream []byte
	plan   *Plan

	configs    []*config            // in stream order, with those that others replace
	byName     map[object]*config   // by kind, effective namespace and name
	namesakes  map[object][]*config // by kind and name, one of each namespace; nil until asked for
	unreadable map[string]error     // by kind: the first config object that can't be read
	workloads  []*workload
	documents  []*stampedDocument
	sum        *checksummer
	lines      lineIndex
	prints     fingerprint
	names      names

	// For one document at a time.
	scratch   *tree
	after     []byte // with its stamps
	pod       podReader
	places    []templatePlace
	templates []int32
	stamps    map[string]string
	seen      index[*config]
	lineOf    []int
}

// Plan finds out who consumes what in the stream, and which stamps follow. The
// stream must not change while the Plan is in use. Errors are of type *Error, or
// several of them joined.
func (r *Renderer) Plan(stream []byte) (*Plan, error) {
	if err := checkText(stream); err != nil {
		return nil, err
	}
	p := &planner{
		Renderer: r,
		stream:   stream,
		plan: &Plan{Workloads: []Workload{}, Configs: []Config{}, Warnings: []string{},
			stream: stream},
		prints: fingerprint{seed: maphash.MakeSeed()},
		sum:    newChecksummer(r.options.HMACKey),

		unreadable: make(map[string]error),
		lines:      lineIndex{stream: stream},
	}
	p.scratch = p.newTree()
	s := splitter{stream: stream}
	var d seenDocument
	for s.read(&d) {
		if !r.kinds.matters(&d, stream) {
			continue
		}
		if err := p.document(&d); err != nil {
			return nil, err
		}
	}
	p.indexConfigs()
	if err := p.match(); err != nil {
		return nil, err
	}
	if err := p.edit(); err != nil {
		return nil, err
	}
	p.plan.Workloads = slices.Grow(p.plan.Workloads, len(p.workloads))
	for _, w := range p.workloads {
		p.plan.Workloads = append(p.plan.Workloads, w.Workload)
	}
	for _, c := range p.configs {
		if !c.replaced {
			p.plan.Configs = append(p.plan.Configs, Config{c.kind, p.effective(c.namespace), c.name, c.consumers})
		}
	}
	return p.plan, nil
}

// newTree returns a tree for the documents of the stream.
func (p *planner) newTree() *tree {
	t := newTree(64)
	t.names = &p.names
	return t
}

func (p *planner) warn(format string, a ...any) {
	p.plan.Warnings = append(p.plan.Warnings, fmt.Sprintf(format, a...))
}

// effective returns the namespace that an object is in; empty if unknown.
func (p *planner) effective(written string) string { return cmp.Or(written, p.options.Namespace) }
