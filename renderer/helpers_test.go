package renderer_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/renderer"
)

// Checksums of the contents that the tests use, computed by another program from the
// text of CONTRACT.md section 4.
const (
	sumOn       = "af9dcd6d971c71d60f1138a710f57171fed6b2a3d7ad8b6af67246e92cb2d96c" // ConfigMap FEATURE_RECS=on
	sumOff      = "f87ddf583676d24244f596de087f5f24ddbdb145db331f4b1694ba2bbb0d5d2b" // ConfigMap FEATURE_RECS=off
	sumA1       = "29a80ecda8dd5bb36df6634a76cfde17d087f4c626008e8cbf46c8feba83c62d" // ConfigMap a=1
	sumA2       = "9fc0a72adfb1b4196046bd5d8fa4332420727d5518ec360e4ab21254403111d4" // ConfigMap a=2
	sumB2       = "2c53a2d99613f44317fbbc77285a53cb97d1b15f8e68f9b0e95cb6dd135c9cc7" // ConfigMap b=2
	sumA1B2     = "57d2dbf209702932090692047fffbaf727dd85c04eacd55cbc85e1fe0f4f168d" // ConfigMap a=1 b=2
	sumEmpty    = "02167705a1e6fab9544cae89254da51833e16b26af80bc4e6418b8f95b89b995" // ConfigMap without keys
	sumPassword = "061d9fd40e5a20388d80e6b6d7d3e1ed739af7be8fa9b1fdd1bef0499935b1fc" // Secret password=s3cr3t
)

// The documents that the tests are put together from.

func indent(n int, s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", n))
		}
		b.WriteString(line)
	}
	return b.String()
}

func workload(apiVersion, kind, name, podSpec string) string {
	return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  name: " + name +
		"\nspec:\n  template:\n    spec:\n" + indent(6, podSpec)
}

func deployment(name, podSpec string) string { return workload("apps/v1", "Deployment", name, podSpec) }

func configMap(name, data string) string {
	return "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n" + indent(2, data)
}

func secret(name, stringData string) string {
	return "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: " + name + "\nstringData:\n" + indent(2, stringData)
}

// inNamespace puts the first object of a stream into a namespace.
func inNamespace(namespace, doc string) string {
	return strings.Replace(doc, "metadata:\n", "metadata:\n  namespace: "+namespace+"\n", 1)
}

// annotated puts annotations on the first object of a stream.
func annotated(annotations, doc string) string {
	return strings.Replace(doc, "metadata:\n", "metadata:\n  annotations:\n"+indent(4, annotations), 1)
}

// envFrom is a pod spec that reads the whole of one ConfigMap.
func envFrom(name string) string {
	return "containers:\n- name: app\n  envFrom:\n  - configMapRef:\n      name: " + name + "\n"
}

// stamps is what a stream carries: the place of each stamp, such as
// "Deployment/web spec.template", and its key without the prefix.
type stamps map[string]map[string]string

// stampsOf finds the stamps of a stream, wherever they are, with no help from the engine.
func stampsOf(t *testing.T, stream string) stamps {
	t.Helper()
	found := make(stamps)
	for _, chunk := range chunks(stream) {
		if v, err := meaning(chunk); err == nil {
			collectStamps(found, v, "", "")
		}
	}
	return found
}

func collectStamps(found stamps, v any, object, path string) {
	switch v := v.(type) {
	case map[string]any:
		if kind, ok := v["kind"].(string); ok && v["metadata"] != nil {
			metadata, _ := v["metadata"].(map[string]any)
			name, _ := metadata["name"].(string)
			object, path = kind+"/"+name+" ", ""
		}
		for key, value := range v {
			annotations, ok := value.(map[string]any)
			if key == "annotations" && ok {
				for k, sum := range annotations {
					if name, ours := strings.CutPrefix(k, "helm-checksum/"); ours && isStamp(k) {
						at := object + strings.TrimSuffix(strings.TrimSuffix(path, "metadata"), ".")
						if found[at] == nil {
							found[at] = make(map[string]string)
						}
						found[at][name], _ = sum.(string)
					}
				}
				continue
			}
			collectStamps(found, value, object, strings.TrimPrefix(path+"."+key, "."))
		}
	case []any:
		for i, item := range v {
			collectStamps(found, item, object, path+"["+strconv.Itoa(i)+"]")
		}
	}
}

func isStamp(key string) bool {
	return strings.HasPrefix(key, "helm-checksum/configmap.") || strings.HasPrefix(key, "helm-checksum/secret.")
}

var markerLine = regexp.MustCompile(`(?m)^(?:\x{feff})?(?:---|\.\.\.)(?:[ \t\r]|$)|^(?:\x{feff})?---[A-Za-z{"'#]`)

// chunks cuts a stream before each of its document markers.
func chunks(stream string) []string {
	var all []string
	from := 0
	for _, m := range markerLine.FindAllStringIndex(stream, -1) {
		if m[0] > from {
			all = append(all, stream[from:m[0]])
		}
		from = m[0]
	}
	return append(all, stream[from:])
}

// meaning reads what one chunk says, as Kubernetes would.
func meaning(chunk string) (any, error) {
	chunk = strings.TrimPrefix(chunk, "\ufeff")
	for _, m := range []string{"---", "..."} {
		chunk = strings.TrimPrefix(chunk, m)
	}
	chunk = strings.TrimPrefix(strings.TrimPrefix(chunk, "\r"), "\n")
	var v any
	err := yaml.Unmarshal([]byte(strings.ReplaceAll(chunk, "\ufeff", "")), &v)
	return v, err
}

// unstamped takes the stamps out of a value, and the maps that held nothing else.
func unstamped(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for key, value := range v {
			value = unstamped(value)
			if a, ok := value.(map[string]any); ok && key == "annotations" {
				for k := range a {
					if isStamp(k) {
						delete(a, k)
					}
				}
			}
			if key == "annotations" || key == "metadata" {
				if a, ok := value.(map[string]any); value == nil || value == "" || ok && len(a) == 0 {
					continue
				}
			}
			out[key] = value
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = unstamped(v[i])
		}
		return out
	}
	return v
}

func newRenderer(t testing.TB, o renderer.Options) *renderer.Renderer {
	t.Helper()
	r, err := renderer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run stamps a stream, and holds the result against what is true of every run:
// what was not stamped is the same to the byte, the rest means the same but for
// stamps, and a second run changes nothing.
func run(t *testing.T, o renderer.Options, stream string) (string, *renderer.Plan) {
	t.Helper()
	r := newRenderer(t, o)
	plan, err := r.Plan([]byte(stream))
	if err != nil {
		t.Fatalf("%v\nin:\n%s", err, stream)
	}
	out, err := r.Run(bytes.NewBufferString(stream))
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, r, stream, out.String())
	return out.String(), plan
}

func checkOutput(t *testing.T, r *renderer.Renderer, in, out string) {
	t.Helper()
	again, err := r.Run(bytes.NewBufferString(out))
	if err != nil {
		t.Fatalf("second run: %v\nof:\n%s", err, out)
	}
	if diff := cmp.Diff(out, again.String()); diff != "" {
		t.Errorf("a second run changes its own output (-first +second):\n%s", diff)
	}
	before, after := chunks(in), chunks(out)
	if len(before) != len(after) {
		t.Fatalf("%d documents became %d:\n%s", len(before), len(after), out)
	}
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		was, err := meaning(before[i])
		if err != nil {
			t.Fatalf("an unreadable document was changed: %v\n%s", err, before[i])
		}
		is, err := meaning(after[i])
		if err != nil {
			t.Fatalf("the output can't be read: %v\n%s", err, after[i])
		}
		if diff := cmp.Diff(unstamped(was), unstamped(is)); diff != "" {
			t.Errorf("more than stamps differs (-in +out):\n%s\nout:\n%s", diff, after[i])
		}
		if had, has := make(stamps), make(stamps); true {
			collectStamps(had, was, "", "")
			collectStamps(has, is, "", "")
			if cmp.Equal(had, has) {
				t.Errorf("a document whose stamps stay was changed (-in +out):\n%s", cmp.Diff(before[i], after[i]))
			}
		}
	}
}

// wantStamps stamps a stream and compares all the stamps in the output.
func wantStamps(t *testing.T, o renderer.Options, stream string, want stamps) *renderer.Plan {
	t.Helper()
	out, plan := run(t, o, stream)
	if diff := cmp.Diff(want, stampsOf(t, out)); diff != "" {
		t.Errorf("stamps (-want +got):\n%s\nout:\n%s", diff, out)
	}
	return plan
}

// wantOutput stamps a stream and compares the output to the byte.
func wantOutput(t *testing.T, o renderer.Options, stream, want string) *renderer.Plan {
	t.Helper()
	out, plan := run(t, o, stream)
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	return plan
}

// consumption finds the line of a Plan for one workload and one config object.
func consumption(t *testing.T, p *renderer.Plan, workload, kind, name string) renderer.Consumption {
	t.Helper()
	for _, w := range p.Workloads {
		for _, c := range w.Consumes {
			if w.String() == workload && c.Kind == kind && c.Name == name {
				return c
			}
		}
	}
	report, _ := json.MarshalIndent(p, "", "  ")
	t.Fatalf("no line for %s of %s/%s in:\n%s", workload, kind, name, report)
	return renderer.Consumption{}
}

// planned finds a workload of a Plan.
func planned(t *testing.T, p *renderer.Plan, workload string) renderer.Workload {
	t.Helper()
	for _, w := range p.Workloads {
		if w.String() == workload {
			return w
		}
	}
	t.Fatalf("no %s in the plan", workload)
	return renderer.Workload{}
}

var web = "Deployment/web spec.template"
