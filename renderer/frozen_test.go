package renderer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// The same stream and options give the same bytes in every release of a major version
// (CONTRACT.md section 5, Stability): a stamp that changes restarts its users' pods,
// everywhere, at the next upgrade. That is why -update does not touch these files.
// When this test fails, the change that made it fail is wrong, or waits for the next
// major version; what is new is appended to a stream of its own.
func TestFrozen(t *testing.T) {
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", "frozen", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	in := read("input.yaml")
	for _, c := range []struct {
		name, output, report string
		o                    renderer.Options
	}{
		{"as Helm runs it", "output.yaml", "report.json", renderer.Options{}},
		{"with options", "output-options.yaml", "report-options.json", renderer.Options{
			Namespace: "green",
			Workloads: []string{"example.com/Fleet=spec.template"},
			Ignore:    []string{"deployment/every-place:secret/tl*"},
			Skip:      []string{"statefulset/partitioned", "configmap/anchors"},
			HMACKey:   []byte("frozen"),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan, err := newRenderer(t, c.o).Plan(in)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := plan.WriteTo(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(read(c.output)), out.String()); diff != "" {
				t.Errorf("pods would restart: the output is another (-frozen +now):\n%s", diff)
			}
			report, err := json.MarshalIndent(plan, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(read(c.report)), string(report)+"\n"); diff != "" {
				t.Errorf("the report is another (-frozen +now):\n%s", diff)
			}
			checkOutput(t, newRenderer(t, c.o), string(in), out.String())
		})
	}
}
