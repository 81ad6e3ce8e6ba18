//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	live "github.com/helm-checksum/helm-checksum/internal/cluster"
)

// aroundCommands is what the commands of a page find when they are run: flux and helm with this
// tool as a plugin, a notify, and a clock that is ahead, so that what is stale has been so for
// long. Each program that fails is noted; exit status 1 is an answer of status.
const aroundCommands = `
noted() { [ "$1" -le "$2" ] || echo "exit status $1: $3" >>failed; return "$1"; }
flux() { shift; flux-checksum "$@"; noted $? 1 "flux checksum $*"; }
helm() { "$HELM" "$@"; noted $? 1 "helm $*"; }
kubectl() { command kubectl "$@"; noted $? 0 "kubectl $*"; }
date() { command date -u -d '1 hour' "${4:-$3}"; }
notify() { echo "notified: $*"; }
`

// commandsOf returns the commands on a page: its blocks of shell, the indented lines, and what
// is in the text about this tool.
func commandsOf(page string) []string {
	var out []string
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		out = append(out, block[1])
	}
	for _, line := range regexp.MustCompile(`(?m)^    ((?:flux|helm|kubectl) .*)$`).FindAllStringSubmatch(page, -1) {
		out = append(out, line[1])
	}
	for _, span := range regexp.MustCompile("`((?:flux|helm) checksum (?:status|policy)\\b[^`]*)`").FindAllStringSubmatch(page, -1) {
		out = append(out, span[1])
	}
	return out
}

func TestTheCommandsOnTheClusterPageWork(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the page has a command with jq, which is not on PATH")
	}
	page, err := os.ReadFile("../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	// The page speaks of a namespace shop, with a release web, and of monitoring.
	const ns = "shop"
	for _, name := range []string{ns, "monitoring"} {
		command(t, "", "kubectl", "create", "namespace", name)
		defer command(t, "", "kubectl", "delete", "namespace", name, "--wait=false")
	}
	command(t, "", "kubectl", "-n", "monitoring", "create", "serviceaccount", "checksum-status")
	h := newHelm(t, 4, ns)
	h.run("install", "web", chart, h.postRenderer)
	allPods(t, ns)
	nextSecond()
	kubectlPatch(t, ns, "configmap", "web-config", "LEVEL", "debug")

	t.Run("a service account that was given nothing", func(t *testing.T) {
		_, err := commandExits(t, 2, fluxChecksum(t), "status", "-A", "--token", serviceAccountToken(t))
		if lines := strings.Split(strings.TrimSpace(err.Error()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "not allowed: ") || !strings.Contains(lines[1], "deploy/status-clusterrole.yaml") {
			t.Errorf("want one line that says what is not allowed, and the remedy: %v", err)
		}
	})

	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS("../deploy")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HELM", h.binary)
	t.Setenv("PATH", filepath.Dir(fluxChecksum(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	commands := commandsOf(string(page))
	if len(commands) < 12 {
		t.Fatalf("found %d commands on the page, which has more: %q", len(commands), commands)
	}
	var output strings.Builder
	for _, text := range commands {
		// The whole may end with 1: status does.
		out, err := started.run("", "sh", "-c", "cd "+dir+"\n"+aroundCommands+text)
		failed, _ := os.ReadFile(filepath.Join(dir, "failed"))
		if len(failed) > 0 {
			t.Errorf("%s\n%s%v", text, failed, err)
		}
		_ = os.Remove(filepath.Join(dir, "failed"))
		output.WriteString(out)
	}
	for _, want := range []string{
		"the policies can be applied to the cluster",
		"namespace/shop labeled",
		"notified: pods with old configuration",
		"shop/web: ConfigMap web-config, 2 pods, kubectl rollout restart deployment/web -n shop",
		"clusterrolebinding.rbac.authorization.k8s.io/helm-checksum-status created",
	} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("the commands did not print %q", want)
		}
	}
	if t.Failed() {
		t.Log(output.String())
	}

	t.Run("the ClusterRole is enough for the service account", func(t *testing.T) {
		token := serviceAccountToken(t)
		eventually(t, func() string {
			// The API server's authorizer hears of the binding a moment later.
			if _, err := started.run("", "kubectl", "auth", "can-i", "list", "secrets", "-A", "--as=system:serviceaccount:monitoring:checksum-status"); err != nil {
				return err.Error()
			}
			return ""
		})
		out, _ := commandExits(t, 1, fluxChecksum(t), "status", "-A", "-o", "json", "--token", token)
		var report live.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Unread) > 0 || len(report.Problems) > 0 || report.Summary[live.Stale] == 0 {
			t.Errorf("unread %v, problems %v, summary %v", report.Unread, report.Problems, report.Summary)
		}
		for _, right := range [][]string{{"create", "pods"}, {"update", "configmaps"}, {"watch", "secrets"}, {"list", "nodes"}} {
			commandExits(t, 1, "kubectl", append([]string{"auth", "can-i", "-A", "--as=system:serviceaccount:monitoring:checksum-status"}, right...)...)
		}
	})
	t.Run("unreachable", func(t *testing.T) {
		for _, args := range [][]string{{"status"}, {"policy", "--check"}} {
			_, err := commandExits(t, 2, fluxChecksum(t), append(args, "--server", "https://127.0.0.1:1")...)
			if lines := strings.Split(strings.TrimSpace(err.Error()), "\n"); len(lines) != 2 || !strings.Contains(lines[1], "the cluster at https://127.0.0.1:1") {
				t.Errorf("%s: want one line, got %v", args[0], err)
			}
		}
	})
}

func serviceAccountToken(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(command(t, "", "kubectl", "-n", "monitoring", "create", "token", "checksum-status"))
}
