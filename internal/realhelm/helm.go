package realhelm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A Helm is one major version of helm with directories of its own: it shares no
// plugins, caches or settings with the user's helm, nor with another Helm.
type Helm struct {
	t     testing.TB
	Major int
	Bin   string // where the program is
	Home  string
	Env   []string // for Run, besides what every Helm has; the last one of a name counts
	Path  []string // folders that come first on PATH
}

// New returns a Helm for a test. It skips the test in short mode, since a first use
// builds helm, and on a system without the shell that the plugin's hooks are for.
func New(t testing.TB, major int) *Helm {
	t.Helper()
	if testing.Short() {
		t.Skipf("short mode: this test runs a real helm %d, which takes minutes to build the first time", major)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("the plugin's hooks for this system can't run: %v", err)
	}
	bin, err := Path(major)
	if err != nil {
		t.Fatal(err)
	}
	h := &Helm{t: t, Major: major, Bin: bin, Home: t.TempDir()}
	h.Path = []string{filepath.Dir(bin)}
	return h
}

// PluginsDir returns where its plugins are.
func (h *Helm) PluginsDir() string { return filepath.Join(h.Home, "data", "plugins") }

// Command returns a command in the environment of this Helm.
func (h *Helm) Command(name string, args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(h.cleanEnv(),
		"HELM_DATA_HOME="+filepath.Join(h.Home, "data"),
		"HELM_CACHE_HOME="+filepath.Join(h.Home, "cache"),
		"HELM_CONFIG_HOME="+filepath.Join(h.Home, "config"),
		"KUBECONFIG="+filepath.Join(h.Home, "no-kubeconfig"),
		"GIT_CONFIG_GLOBAL="+os.DevNull,
		"PATH="+strings.Join(append(h.Path[:len(h.Path):len(h.Path)], pathWithoutHelm(h.t)), string(os.PathListSeparator)),
	)
	cmd.Env = append(cmd.Env, h.Env...)
	return cmd
}

// A Result is what a command left.
type Result struct {
	Stdout, Stderr string
	Exit           int
}

// All is what a user sees on a terminal, less the order.
func (r Result) All() string { return r.Stdout + r.Stderr }

// Run runs helm, whatever becomes of it.
func (h *Helm) Run(args ...string) Result {
	h.t.Helper()
	return h.Finish(h.Command(h.Bin, args...))
}

// Must runs helm, fails the test when that fails, and returns its stdout.
func (h *Helm) Must(args ...string) string {
	h.t.Helper()
	r := h.Run(args...)
	if r.Exit != 0 {
		h.t.Fatalf("helm %d %s: exit %d\n%s", h.Major, strings.Join(args, " "), r.Exit, r.All())
	}
	return r.Stdout
}

// Finish runs a prepared command.
func (h *Helm) Finish(cmd *exec.Cmd) Result {
	h.t.Helper()
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		h.t.Fatal(err)
	}
	return Result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// cleanEnv is the process's environment without what Helm, this tool or git would
// be led astray by.
func (h *Helm) cleanEnv() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "HELM_") && !strings.HasPrefix(e, "GIT_") && !strings.HasPrefix(e, "KUBE") {
			env = append(env, e)
		}
	}
	return env
}

var hidden = struct {
	sync.Mutex
	dir string
	err error
}{}

// pathWithoutHelm returns a folder that has what PATH has, less any helm: whether
// the user has one must not change what a test sees.
func pathWithoutHelm(t testing.TB) string {
	t.Helper()
	hidden.Lock()
	defer hidden.Unlock()
	if hidden.dir == "" && hidden.err == nil {
		hidden.dir, hidden.err = linkPath()
	}
	if hidden.err != nil {
		t.Fatal(hidden.err)
	}
	return hidden.dir
}

// CleanUp removes what the Helms of a test process shared; call it from TestMain.
func CleanUp() {
	hidden.Lock()
	defer hidden.Unlock()
	if hidden.dir != "" {
		os.RemoveAll(hidden.dir)
	}
}

func linkPath() (string, error) {
	dir, err := os.MkdirTemp("", "path-without-helm-")
	if err != nil {
		return "", err
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // PATH may name folders that are not there
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), "helm") || strings.HasPrefix(e.Name(), "flux") {
				continue
			}
			err := os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(dir, e.Name()))
			if err != nil && !errors.Is(err, os.ErrExist) {
				return dir, fmt.Errorf("a PATH without helm: %w", err)
			}
		}
	}
	return dir, nil
}
