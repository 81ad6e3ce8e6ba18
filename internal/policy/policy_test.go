package policy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the expected results")

func write(t *testing.T, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func compare(t *testing.T, got, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs (-file +printed); go test -update rewrites it:\n%s", file, d)
	}
}

func TestDefaultPolicyIsTheCommittedFile(t *testing.T) {
	compare(t, write(t, Options{}), filepath.Join("..", "..", "deploy", "policy.yaml"))
}

func TestOptionsShowInThePolicy(t *testing.T) {
	compare(t, write(t, Options{
		NamespaceSelector: "team in (web, shop),tier=prod",
		ConfigSelector:    "owner!=helm",
		OptIn:             true,
		NoSecrets:         true,
		Kinds:             Families(),
		Workloads:         []string{"example.com/App=spec.pod.template", "example.com/Job=spec.template"},
		AlsoStamped:       true,
		FailurePolicy:     Fail,
	}), filepath.Join("testdata", "all-options.yaml"))
}

// The API server refuses unknown fields only when asked to; a misspelt one would
// silently do nothing.
func TestPoliciesHaveTheFieldsOfTheAPI(t *testing.T) {
	for name, o := range map[string]Options{
		"default":     {},
		"every kind":  {Kinds: Families(), OptIn: true},
		"user's kind": {Workloads: []string{"example.com/App=spec.pod.template"}},
	} {
		t.Run(name, func(t *testing.T) {
			policies := map[string]int{}
			for _, doc := range strings.Split(write(t, o), "\n---\n")[1:] {
				switch {
				case strings.Contains(doc, "kind: MutatingAdmissionPolicyBinding\n"):
					var b admissionregistrationv1.MutatingAdmissionPolicyBinding
					if err := yaml.UnmarshalStrict([]byte(doc), &b); err != nil {
						t.Fatal(err)
					}
					policies[b.Spec.PolicyName]--
				default:
					var p admissionregistrationv1.MutatingAdmissionPolicy
					if err := yaml.UnmarshalStrict([]byte(doc), &p); err != nil {
						t.Fatal(err)
					}
					policies[p.Name]++
				}
			}
			if len(policies) == 0 {
				t.Fatal("no policies")
			}
			for name, n := range policies {
				if n != 0 {
					t.Errorf("%s: %d policies more than bindings, want one binding for each", name, n)
				}
			}
		})
	}
}

func TestKubeSystemIsNeverSelected(t *testing.T) {
	for _, selector := range []string{"", "a=b", "!a", "kubernetes.io/metadata.name=kube-system"} {
		out := write(t, Options{NamespaceSelector: selector})
		if got := strings.Count(out, `values: ["kube-system"]`); got != 2 {
			t.Errorf("selector %q: kube-system is left out by %d bindings, want 2", selector, got)
		}
	}
}

func TestBadOptionsAreRefusedWithAReason(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		want    string
	}{
		{"selector", Options{NamespaceSelector: "a in b"}, `namespace selector "a in b"`},
		{"config selector", Options{ConfigSelector: "a in b"}, `config selector "a in b"`},
		{"selector with two values", Options{NamespaceSelector: "a=b,a=c"}, "a can't have two values"},
		{"selector that compares", Options{ConfigSelector: "size>3"}, `a policy can't compare with "gt"`},
		{"family", Options{Kinds: []string{"cobol"}}, `kinds: "cobol" is not one of argo, knative, kruise, leaderworkerset, openshift`},
		{"workload without a path", Options{Workloads: []string{"example.com/App"}}, "is not GROUP/KIND=PATH"},
		{"workload without a group", Options{Workloads: []string{"App=spec.template"}}, "is not GROUP/KIND=PATH"},
		{"templates in a list", Options{Workloads: []string{"example.com/App=spec.parts[*].template"}}, "can't reach templates in a list"},
		{"path with code in it", Options{Workloads: []string{`example.com/App=spec"]`}}, "is not a path of fields"},
		{"group with code in it", Options{Workloads: []string{`ex"am/App=spec.template`}}, "is not the group and kind of an API"},
		{"failure policy", Options{FailurePolicy: "Maybe"}, `"Maybe" is neither Ignore nor Fail`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, c.options)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes were written all the same", b.Len())
			}
		})
	}
}

func TestExplainAndUninstallSpeakOfTheOptions(t *testing.T) {
	for _, c := range []struct {
		file    string
		options Options
		write   func(*bytes.Buffer, Options) error
	}{
		{"explain.txt", Options{}, func(b *bytes.Buffer, o Options) error { return Explain(b, o) }},
		{"explain-options.txt", Options{OptIn: true, NoSecrets: true, AlsoStamped: true, Kinds: Families(), Workloads: []string{"example.com/App=spec.template"}},
			func(b *bytes.Buffer, o Options) error { return Explain(b, o) }},
		{"uninstall.txt", Options{}, func(b *bytes.Buffer, o Options) error { return Uninstall(b, o) }},
		{"uninstall-options.txt", Options{NamespaceSelector: "team=web", NoSecrets: true, Kinds: []string{"leaderworkerset"}},
			func(b *bytes.Buffer, o Options) error { return Uninstall(b, o) }},
	} {
		t.Run(c.file, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b, c.options); err != nil {
				t.Fatal(err)
			}
			compare(t, b.String(), filepath.Join("testdata", c.file))
		})
	}
}
