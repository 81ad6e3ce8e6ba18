package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// runWith runs the command with only these variables, and returns what it printed.
func runWith(t *testing.T, environ []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	warnings, err := os.Create(t.TempDir() + "/stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer warnings.Close()
	cmd := (&app{name: "flux-checksum", environ: environ, stderr: warnings}).command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	text, readErr := os.ReadFile(warnings.Name())
	if readErr != nil {
		t.Fatal(readErr)
	}
	return out.String(), string(text), err
}

func TestStatusHeedsOnlyVariablesThatMeanTheSameToIt(t *testing.T) {
	const here = "/api/v1/namespaces/shop/pods"
	for _, c := range []struct {
		variable string
		args     []string
		pods     string // where they are asked for
		exit     int
	}{
		{"HELM_CHECKSUM_STRICT=true", nil, here, cli.ExitOK},
		{"HELM_CHECKSUM_STRICT=true", []string{"--strict"}, here, cli.ExitDifference},
		{"HELM_CHECKSUM_NAMESPACE=prod", nil, here, cli.ExitOK},
		{"HELM_CHECKSUM_NAMESPACE=prod", []string{"-n", "named"}, "/api/v1/namespaces/named/pods", cli.ExitOK},
		{"HELM_CHECKSUM_SECRETS=false", nil, here, cli.ExitOK},
		{"HELM_CHECKSUM_SECRETS=keyed", nil, here, cli.ExitOK},
		{"HELM_CHECKSUM_SECRETS=maybe", nil, "", cli.ExitError},
		{"HELM_CHECKSUM_HMAC_KEY_FILE=does/not/exist", nil, "", cli.ExitError},
		{"HELM_CHECKSUM_IGNORE=configmap/web", nil, here, cli.ExitOK},
		{"HELM_CHECKSUM_OPT_IN=true", nil, here, cli.ExitOK},
		{"HELM_CHECKSUM_ALL_NAMESPACES=true", nil, "/api/v1/pods", cli.ExitOK},
		{"HELM_CHECKSUM_OUTPUT=json", nil, here, cli.ExitOK},
	} {
		t.Run(strings.Join(append([]string{c.variable}, c.args...), " "), func(t *testing.T) {
			server := &statusServer{fields: labelsToo} // one line, maybe-stale
			out, warnings, err := runWith(t, []string{c.variable}, append([]string{"status", "--kubeconfig", server.start(t)}, c.args...)...)
			if got := cli.ExitStatus(err); got != c.exit {
				t.Errorf("exit status %d (%v), want %d", got, err, c.exit)
			}
			var asked string
			for _, path := range server.paths {
				if strings.HasSuffix(path, "/pods") {
					asked = path
				}
			}
			if asked != c.pods {
				t.Errorf("asked for %q, want %q", asked, c.pods)
			}
			if warnings != "" {
				t.Errorf("warns of a variable that it knows: %s", warnings)
			}
			if json := strings.HasPrefix(out, "{"); c.exit != cli.ExitError && json != (c.variable == "HELM_CHECKSUM_OUTPUT=json") {
				t.Errorf("JSON: %v; output:\n%s", json, out)
			}
		})
	}
	t.Run("an unknown one", func(t *testing.T) {
		kubeconfig := (&statusServer{fields: labelsToo}).start(t)
		_, warnings, err := runWith(t, []string{"HELM_CHECKSUM_STRCIT=true"}, "status", "--kubeconfig", kubeconfig)
		if err != nil || !strings.Contains(warnings, "HELM_CHECKSUM_STRCIT is not known") {
			t.Errorf("error %v, warnings %q", err, warnings)
		}
	})
}

func TestPolicyTakesItsOptionsFromTheEnvironment(t *testing.T) {
	flags := []string{"policy", "--opt-in", "--secrets=false", "--workload", "example.com/App=spec.pod", "--workload", "example.com/Web=spec.pod"}
	want, _, err := runWith(t, nil, flags...)
	if err != nil {
		t.Fatal(err)
	}
	environ := []string{"HELM_CHECKSUM_OPT_IN=true", "HELM_CHECKSUM_SECRETS=false", "HELM_CHECKSUM_WORKLOAD=example.com/App=spec.pod,example.com/Web=spec.pod",
		"HELM_CHECKSUM_STRICT=true", "HELM_CHECKSUM_NAMESPACE=prod", "HELM_CHECKSUM_SKIP=deployment/x"}
	for _, secrets := range []string{"false", "none"} {
		environ[1] = "HELM_CHECKSUM_SECRETS=" + secrets
		got, warnings, err := runWith(t, environ, "policy")
		if err != nil || warnings != "" {
			t.Errorf("error %v, warnings %q", err, warnings)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("by variables, with Secrets %s (-by flags +got):\n%s", secrets, d)
		}
	}
}

// stamp's own flag takes what the others only know as on or off.
func TestSecretsVariableOfStampKeepsItsValue(t *testing.T) {
	cmd := (&app{name: "flux-checksum"}).command()
	stamp, _, err := cmd.Find([]string{"stamp"})
	if err != nil {
		t.Fatal(err)
	}
	got := variables(stamp, []string{"HELM_CHECKSUM_SECRETS=none", "HELM_CHECKSUM_STRICT=true", "HOME=/root"})
	if want := []string{"HELM_CHECKSUM_SECRETS=none", "HELM_CHECKSUM_STRICT=true"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
