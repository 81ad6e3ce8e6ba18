package renderer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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

// A StampedStream is a stream and the stamps that it is to have. WriteTo writes it with
// them; Changed says whether that is another stream.
type StampedStream struct {
	// Warnings say what may not be as it is meant: a config object that is there
	// twice, a value that is no string. They name keys, no values.
	Warnings []string

	stream []byte
	edits  []Edit
}

// A Plan says who consumes what in a stream, and what is to be stamped. Workloads,
// Configs and Warnings are plain data, the report of CONTRACT.md section 9.
type Plan struct {
	StampedStream // with WriteTo, Changed and Warnings

	Workloads []Workload `json:"workloads"` // in stream order, one per pod template
	Configs   []Config   `json:"configs"`   // in stream order

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
func (w *Workload) Stamps() map[string]string {
	stamps := make(map[string]string)
	maps.Copy(stamps, w.kept)
	for i := range w.Consumes {
		if line := &w.Consumes[i]; line.Status == Stamped {
			stamps[line.Annotation] = line.Checksum
		}
	}
	return stamps
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

// A planner plans one stream. It goes through it twice: first for the config objects,
// then, from one document with pod templates to the next, for what they consume. Of a
// workload nothing is kept but the edits that stamp it, and the report's entry if there
// is to be a report.
type planner struct {
	*Renderer
	stream []byte
	out    *StampedStream
	report *Plan // nil if no one asks for more than the stamps

	documents  []document           // that have pod templates, or may have
	configs    []*config            // in stream order, with those that others replace
	byName     map[object]*config   // by kind, effective namespace and name
	namesakes  map[object][]*config // by kind and name, one of each namespace; nil until asked for
	unreadable map[string]error     // by kind: the first config object that can't be read
	sum        *checksummer
	lines      lineIndex
	names      names

	failures []error // of consumptions: all are found before the first is told
	failed   map[error]bool

	// For one document at a time.
	scratch   *tree // of the document at work
	second    *tree // of what is read meanwhile
	content   content
	at        workloadDocument
	edits     []Edit
	after     []byte // with them
	pod       podReader
	places    []templatePlace
	templates []int32
	seen      index[*config]
	list      *configList // the last one
	lineOf    []int
}

// Plan finds out who consumes what in the stream, and which stamps follow. The
// stream must not change while the Plan is in use. Errors are of type *Error, or
// several of them joined.
func (r *Renderer) Plan(stream []byte) (*Plan, error) {
	plan := &Plan{Workloads: []Workload{}, Configs: []Config{}}
	if err := r.plan(stream, &plan.StampedStream, plan); err != nil {
		return nil, err
	}
	return plan, nil
}

// Stamp is Plan without the report of who consumes what: it takes less time and memory.
// The stream must not change while the StampedStream is in use. The errors are
// those of Plan.
func (r *Renderer) Stamp(stream []byte) (*StampedStream, error) {
	stamped := new(StampedStream)
	if err := r.plan(stream, stamped, nil); err != nil {
		return nil, err
	}
	return stamped, nil
}

func (r *Renderer) plan(stream []byte, out *StampedStream, report *Plan) error {
	if err := checkText(stream); err != nil {
		return err
	}
	out.Warnings, out.stream = []string{}, stream
	p := &planner{
		Renderer: r,
		stream:   stream,
		out:      out,
		report:   report,
		sum:      newChecksummer(r.options.HMACKey),
		lines:    lineIndex{stream: stream},
	}
	p.scratch, p.second = p.newTree(), p.newTree()
	s := splitter{stream: stream}
	var d seenDocument
	for s.read(&d) {
		if !r.kinds.matters(&d, stream) {
			continue
		}
		if err := p.collect(&d); err != nil {
			return p.first(err)
		}
	}
	p.indexConfigs()
	p.scratch, p.second = p.second, p.scratch     // config objects go on in the one that has grown for some
	out.edits = make([]Edit, 0, len(p.documents)) // mostly a stamp in each
	for _, d := range p.documents {
		if err := p.document(d); err != nil {
			return err
		}
	}
	if len(p.failures) > 0 {
		return errors.Join(p.failures...)
	}
	if report != nil {
		for _, c := range p.configs {
			if !c.replaced {
				report.Configs = append(report.Configs, Config{c.kind, p.effective(c.namespace), c.name, c.consumers})
			}
		}
	}
	return nil
}

// first returns what is wrong first in the stream, where reading config objects ended with
// an error: that, or what is wrong with a workload before.
func (p *planner) first(err error) error {
	for _, d := range p.documents {
		before := p.read(d)
		if before == nil {
			continue
		}
		var a, b *Error
		if errors.As(before, &a) && errors.As(err, &b) && a.Line <= b.Line {
			return before
		}
		break
	}
	return err
}

// document matches, stamps and reports the pod templates of one document.
func (p *planner) document(d document) error {
	if err := p.read(d); err != nil {
		return err
	}
	for i := range p.at.workloads {
		p.match(&p.at.workloads[i])
	}
	if len(p.failures) > 0 {
		return nil // there will be no output
	}
	if err := p.edit(&p.at); err != nil {
		return err
	}
	if p.report != nil {
		for i := range p.at.workloads {
			p.report.Workloads = append(p.report.Workloads, p.at.workloads[i].Workload)
		}
	}
	return nil
}

// newTree returns a tree for the documents of the stream, one after another.
func (p *planner) newTree() *tree { return &tree{names: &p.names} }

func (p *planner) warn(format string, a ...any) {
	p.out.Warnings = append(p.out.Warnings, fmt.Sprintf(format, a...))
}

// effective returns the namespace that an object is in; empty if unknown.
func (p *planner) effective(written string) string { return cmp.Or(written, p.options.Namespace) }
