package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// Formats are the values of --output.
var Formats = []string{"table", "json"}

// CheckFormat refuses an unknown --output.
func CheckFormat(format string) error {
	if format != "table" && format != "json" {
		return fmt.Errorf("--output %q: want %s", format, strings.Join(Formats, " or "))
	}
	return nil
}

// AddOutputFlag defines --output, table at first.
func AddOutputFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVarP(format, "output", "o", "table", "table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(Formats, cobra.ShellCompDirectiveNoFileComp))
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// ShowPlan prints who consumes what, as a table or as the report.
func ShowPlan(w io.Writer, p *renderer.Plan, format string) error {
	if format == "json" {
		return WriteJSON(w, p)
	}
	t := newTable(w, "WORKLOAD", "CONSUMES", "KEYS", "THROUGH", "STATUS")
	for i := range p.Workloads {
		showWorkload(t, &p.Workloads[i])
	}
	if err := t.flush("nothing in this stream has a pod template"); err != nil {
		return err
	}
	return showIdle(w, p)
}

// showIdle names the config objects that no stamp can depend on: those that nothing
// consumes, and apart from them those that only references name which do not count.
func showIdle(w io.Writer, p *renderer.Plan) error {
	var none, ignored, ambiguous []string
	byIgnored, byAmbiguous := mentionedIn(p, renderer.Ignored), mentionedIn(p, renderer.Ambiguous)
	for _, c := range p.Configs {
		if c.Consumers > 0 {
			continue
		}
		ref := renderer.Ref{Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
		list := &none
		switch {
		case byIgnored.mayMean(ref):
			list = &ignored
		case byAmbiguous.mayMean(ref):
			list = &ambiguous
		}
		*list = append(*list, printable(ref.String()))
	}
	start := "\n"
	for _, list := range []struct {
		title string
		names []string
	}{
		{"Consumed by no pod here", none},
		{"Consumed only where that is ignored", ignored},
		{"Consumed, if at all, where it is ambiguous", ambiguous},
	} {
		if len(list.names) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s\n", start, list.title, strings.Join(list.names, ", ")); err != nil {
			return err
		}
		start = ""
	}
	return nil
}

// mentions are the objects that some consumptions name. Where a namespace is not known,
// it may be any one.
type mentions map[renderer.Ref]bool

const anyNamespace = "*"

// mentionedIn returns what the consumptions with a status name.
func mentionedIn(p *renderer.Plan, status renderer.Status) mentions {
	m := mentions{}
	for i := range p.Workloads {
		for _, c := range p.Workloads[i].Consumes {
			if c.Status == status {
				m[c.Ref()] = true
				m[renderer.Ref{Kind: c.Kind, Namespace: anyNamespace, Name: c.Name}] = true
			}
		}
	}
	return m
}

func (m mentions) mayMean(r renderer.Ref) bool {
	if r.Namespace == "" {
		return m[renderer.Ref{Kind: r.Kind, Namespace: anyNamespace, Name: r.Name}]
	}
	return m[r] || m[renderer.Ref{Kind: r.Kind, Name: r.Name}]
}

func showWorkload(t *table, w *renderer.Workload) {
	name := workloadName(w)
	if len(w.Consumes) == 0 {
		t.row(name, "-", "", "", w.Reason)
		return
	}
	for i := range w.Consumes {
		c := &w.Consumes[i]
		for j, via := range c.Via {
			if j > 0 {
				t.row("", "", "", via, "")
				continue
			}
			t.row(name, c.Ref().String(), strings.Join(c.Keys, ","), via, status(w, c))
			name = ""
		}
	}
}

// workloadName names the template where a workload has others than the usual one.
func workloadName(w *renderer.Workload) string {
	name := w.Ref().String()
	switch w.Template {
	case "", "spec.template", "spec.jobTemplate.spec.template":
		return name
	}
	return name + " (" + w.Template + ")"
}

func status(w *renderer.Workload, c *renderer.Consumption) string {
	s := string(c.Status)
	switch c.Status {
	case renderer.Stamped:
		if w.Note != "" {
			s += ": " + w.Note
		}
	case renderer.External:
		if c.Optional {
			s += " (optional)"
		}
	case renderer.NotStamped:
		s += ": " + w.Reason
	}
	return s
}

// Count says how many there are of a thing: 1 stamp, 2 stamps.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// ShowDifferences prints what Verify found.
func ShowDifferences(w io.Writer, all []renderer.Difference, format string) error {
	if format == "json" {
		return WriteJSON(w, struct {
			APIVersion  string                `json:"apiVersion"`
			Kind        string                `json:"kind"`
			Differences []renderer.Difference `json:"differences"`
		}{"helm-checksum/v1", "Verification", all})
	}
	t := newTable(w, "WORKLOAD", "STAMP FOR", "KEYS", "PROBLEM")
	for _, d := range all {
		object := d.Annotation
		if d.Object != nil {
			object = d.Object.String()
		}
		t.row(d.Workload.String(), object, strings.Join(d.Keys, ","), string(d.Problem))
	}
	return t.flush("")
}

// ShowChanges prints what Diff found.
func ShowChanges(w io.Writer, all []renderer.Change, format string) error {
	if format == "json" {
		return WriteJSON(w, struct {
			APIVersion string            `json:"apiVersion"`
			Kind       string            `json:"kind"`
			Changes    []renderer.Change `json:"changes"`
		}{"helm-checksum/v1", "Diff", all})
	}
	t := newTable(w, "WOULD ROLL", "BECAUSE OF", "CHANGE", "KEYS")
	for _, c := range all {
		name := c.Workload.String()
		for _, o := range c.Objects {
			t.row(name, o.Object.String(), string(o.Change), strings.Join(o.Keys, ","))
			name = ""
		}
	}
	return t.flush("")
}

// A table is rows under headings; without rows the headings are not shown.
type table struct {
	w    io.Writer
	t    *tabwriter.Writer
	head []string
	rows int
}

func newTable(w io.Writer, head ...string) *table {
	return &table{w: w, t: tabwriter.NewWriter(w, 0, 8, 3, ' ', tabwriter.DiscardEmptyColumns), head: head}
}

func (t *table) row(cells ...string) {
	if t.rows == 0 {
		t.line(t.head)
	}
	t.rows++
	t.line(cells)
}

func (t *table) line(cells []string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	_, _ = fmt.Fprintln(t.t, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
}

// printable keeps names from a stream from moving a terminal's cursor.
func printable(s string) string { return keep("", s) }

// PrintableMessage does so in a message, which may have several lines.
func PrintableMessage(s string) string { return keep("\n\t", s) }

// keep replaces all control characters but some.
func keep(some, s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(some, r) {
			return r
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// flush writes the table, or a sentence when it has no rows.
func (t *table) flush(empty string) error {
	if t.rows == 0 {
		if empty == "" {
			return nil
		}
		_, err := fmt.Fprintln(t.w, empty)
		return err
	}
	return t.t.Flush()
}
