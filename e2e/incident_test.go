//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	live "github.com/helm-checksum/helm-checksum/internal/cluster"
)

// status runs "helm checksum status" with Helm's own flags, and returns what it found.
// want is the exit status.
func (h *helmEnvironment) status(want int) *live.Report {
	h.t.Helper()
	out, _ := commandExits(h.t, want, h.binary, "checksum", "status", release, "-o", "json", "--namespace", h.namespace, "--kube-context", "e2e")
	report := &live.Report{}
	if err := json.Unmarshal([]byte(out), report); err != nil {
		h.t.Fatalf("%v in:\n%s", err, out)
	}
	return report
}

// The incident that this tool is about, as the people see it who have it.
func TestKubectlEditLeavesThePodsOldAndStatusSaysSo(t *testing.T) {
	for _, major := range []int{3, 4} {
		t.Run(fmt.Sprintf("Helm %d", major), func(t *testing.T) {
			ns := newNamespace(t, nil)
			h := newHelm(t, major, ns)
			h.run("install", release, chart, h.postRenderer)
			allPods(t, ns)
			nextSecond()
			h.status(0)

			t.Setenv("KUBE_EDITOR", "sed -i 's/LEVEL: info/LEVEL: debug/'")
			got := rolled(t, ns, func() { command(t, "", "kubectl", "-n", ns, "edit", "configmap", "web-config") })
			if len(got) > 0 {
				t.Errorf("the edit rolled %v", got)
			}
			report := h.status(1)
			want := map[string]string{
				"web configmap/web-config":   "stale 2/2",
				"agent configmap/web-config": "stale 2/2",
				"other configmap/web-config": "current 1/1", // it reads another key
				"database secret/database":   "current 2/2",
			}
			if d := cmp.Diff(want, statusLines(report)); d != "" {
				t.Errorf("after the edit (-want +got):\n%s", d)
			}

			// What status says would fix it does.
			nextSecond()
			for _, item := range report.Items {
				if item.State == live.Stale {
					command(t, "", "sh", "-c", item.Fix)
				}
			}
			allPods(t, ns)
			for line, state := range statusLines(h.status(0)) {
				if before := want[line]; before[:5] == "stale" && state[:7] != "drifted" {
					t.Errorf("after the fix %s is %q, want drifted: the next upgrade rolls it", line, state)
				}
			}
		})
	}
}
