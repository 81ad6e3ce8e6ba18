package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// runPolicy runs "policy" with arguments and returns what it printed to stdout.
func runPolicy(args ...string) (string, error) {
	var out bytes.Buffer
	cmd := newPolicyCommand()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(new(bytes.Buffer))
	err := cmd.Execute()
	return out.String(), err
}

func TestPolicyPrintsTheCommittedFile(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "..", "deploy", "policy.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := runPolicy()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("deploy/policy.yaml differs (-file +printed); go test ./internal/policy -update rewrites it:\n%s", d)
	}
}

func TestPolicyFlags(t *testing.T) {
	for _, c := range []struct{ args, want, not string }{
		{"--secrets=false", "kind: ConfigMap", "kind: Secret"},
		{"--opt-in", "helm-checksum/stamp", ""},
		{"--namespace-selector team=web", `"team": "web"`, "helm-checksum/policy"},
		{"--config-selector owner!=helm", `values: ["helm"]`, ""},
		{"--kinds argo,kruise", `resources: ["rollouts"]`, "serving.knative.dev"},
		{"--workload example.com/App=spec.pod", `"/spec/pod/metadata/annotations"`, ""},
		{"--also-stamped", "kind: ConfigMap", `"helm-checksum/configmap."`},
		{"--failure-policy Fail", "failurePolicy: Fail", "failurePolicy: Ignore"},
		{"--explain --secrets=false", "What a policy can't reach", "policy helm-checksum-secret"},
		{"--uninstall", "kubectl label namespace --all helm-checksum/policy-", "kind: ConfigMap"},
	} {
		t.Run(c.args, func(t *testing.T) {
			got, err := runPolicy(strings.Fields(c.args)...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("want %q in:\n%s", c.want, got)
			}
			if c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("want no %q in:\n%s", c.not, got)
			}
		})
	}
}

func TestPolicyRefusesWhatItCanNotDoAndPrintsNothing(t *testing.T) {
	for args, want := range map[string]string{
		"--kinds cobol":          `"cobol" is not one of`,
		"--failure-policy maybe": "neither Ignore nor Fail",
		"--explain --uninstall":  "none of the others can be",
		"extra":                  `unknown command "extra"`,
		"--check --kubeconfig /nonexistent/kubeconfig": "kubeconfig",
	} {
		t.Run(args, func(t *testing.T) {
			got, err := runPolicy(strings.Fields(args)...)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
			if got != "" {
				t.Errorf("printed all the same: %s", got)
			}
		})
	}
}
