package cluster

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// WriteTable prints the report for people: a line per item, worst first, then what
// was noticed and what could not be read.
func (r *Report) WriteTable(w io.Writer) error {
	var text strings.Builder
	if len(r.Items) > 0 {
		now, err := time.Parse(time.RFC3339, r.Time)
		if err != nil {
			return fmt.Errorf("the report's time: %w", err)
		}
		table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		namespace := func(string) string { return "" }
		if len(r.Namespaces) != 1 {
			namespace = func(s string) string { return s + "\t" }
		}
		fmt.Fprintf(table, "STATE\t%sWORKLOAD\tOBJECT\tPODS\tSINCE\tWHY\tFIX\n", namespace("NAMESPACE"))
		for _, i := range r.Items {
			object := strings.ToLower(i.Object.Kind) + "/" + i.Object.Name
			if i.Object.Namespace != i.Workload.Namespace {
				object = strings.ToLower(i.Object.Kind) + "/" + i.Object.Namespace + "/" + i.Object.Name
			}
			why := []string{i.Reason}
			if i.Mixed {
				why = append([]string{"mixed"}, why...)
			}
			if i.Live {
				why = append([]string{"live"}, why...)
			}
			fmt.Fprintf(table, "%s\t%s%s/%s\t%s\t%d/%d\t%s\t%s\t%s\n",
				i.State, namespace(i.Workload.Namespace), strings.ToLower(i.Workload.Kind), i.Workload.Name, object,
				i.Pods.States[i.State], i.Pods.Total, age(now, i.Since), strings.Join(why, "; "), dash(i.Fix))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		text.WriteString("\n")
	}
	var counts []string
	for _, s := range States {
		if n := r.Summary[s]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(counts) == 0 {
		counts = []string{"nothing is consumed"}
	}
	pods := "pods"
	if r.Pods == 1 {
		pods = "pod"
	}
	fmt.Fprintf(&text, "%s: %d %s in %s\n", strings.Join(counts, ", "), r.Pods, pods, places(r.Namespaces))
	for _, n := range r.Notices {
		fmt.Fprintf(&text, "notice: %s\n", n.Message)
	}
	for _, u := range r.Unread {
		where := "in all namespaces"
		if u.Namespace != "" {
			where = "in namespace " + u.Namespace
		}
		fmt.Fprintf(&text, "could not read: %s %s: %s\n", u.Resource, where, u.Reason)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&text, "problem: %s\n", p)
	}
	_, err := io.WriteString(w, trimLines(text.String()))
	return err
}

// age is how long ago a time of the report was, as kubectl prints it.
func age(now time.Time, since string) string {
	t, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return "-"
	}
	return duration.HumanDuration(max(0, now.Sub(t)))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
