package renderer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// What a workload is stamped with, and what is reported of it, does not depend on the
// workloads before it, whose memory it is read into.
func TestWorkloadsAreReadForThemselves(t *testing.T) {
	var configs strings.Builder
	const objects, keys = 7, 5
	for i := range objects {
		fmt.Fprintf(&configs, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%d\n  namespace: prod\ndata:\n", i)
		for key := range keys {
			fmt.Fprintf(&configs, "  k%d: \"%d %d\"\n", key, i, key)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	workload := func(name int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: w%d\n  namespace: prod\n", name)
		if random.IntN(3) == 0 {
			// Named with and without its namespace: one consumption.
			fmt.Fprintf(&b, "  annotations:\n    helm-checksum/consumes: configmap/prod/c%d, configmap/c%d\n", random.IntN(objects), random.IntN(objects))
		}
		b.WriteString("spec:\n  template:\n    spec:\n      containers:\n      - name: main\n        env:\n        - {name: none, value: x}\n")
		for i := range random.IntN(6) {
			fmt.Fprintf(&b, "        - name: e%d\n          valueFrom:\n            configMapKeyRef:\n              name: c%d\n              key: k%d\n", i, random.IntN(objects), random.IntN(keys+1))
		}
		b.WriteString("        volumeMounts:\n")
		volumes := random.IntN(4)
		for i := range volumes {
			fmt.Fprintf(&b, "        - {name: v%d, mountPath: /v%d", i, i)
			if random.IntN(2) == 0 {
				fmt.Fprintf(&b, ", subPath: k%d", random.IntN(keys))
			}
			b.WriteString("}\n")
		}
		b.WriteString("      volumes:\n")
		for i := range volumes {
			fmt.Fprintf(&b, "      - name: v%d\n        configMap:\n          name: c%d\n", i, random.IntN(objects))
		}
		return b.String()
	}
	r := newRenderer(t, renderer.Options{})
	var all, list strings.Builder
	list.WriteString("---\napiVersion: v1\nkind: List\nitems:\n")
	var alone []renderer.Workload
	var output strings.Builder
	for i := range 300 {
		w := workload(i)
		fmt.Fprintf(&all, "---\n%s", w)
		list.WriteString("- " + strings.TrimSuffix(strings.ReplaceAll(w, "\n", "\n  "), "  "))
		out, plan := run(t, renderer.Options{}, configs.String()+"---\n"+w)
		alone = append(alone, plan.Workloads...)
		output.WriteString(strings.TrimPrefix(out, configs.String()))
	}
	for name, stream := range map[string]string{"documents": configs.String() + all.String(), "a list": configs.String() + list.String()} {
		plan, err := r.Plan([]byte(stream))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone, plan.Workloads, cmp.AllowUnexported(renderer.Workload{})); diff != "" {
			t.Errorf("%s: workloads differ (-alone +together):\n%.2000s", name, diff)
		}
	}
	out, _ := run(t, renderer.Options{}, configs.String()+all.String())
	if diff := cmp.Diff(configs.String()+output.String(), out); diff != "" {
		t.Errorf("the output differs (-alone +together):\n%.2000s", diff)
	}
}
