package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helm-checksum/helm-checksum/internal/realhelm"
)

// The tests in this file install the plugin into real Helms, as users do.

// majors are the major versions of Helm.
var majors = []int{3, 4}

// eachHelm runs a test with a new Helm of each major version that has another plugin,
// which must never be lost.
func eachHelm(t *testing.T, test func(*testing.T, *realhelm.Helm)) {
	for _, major := range majors {
		t.Run(fmt.Sprintf("helm %d", major), func(t *testing.T) {
			t.Parallel()
			h := realhelm.New(t, major)
			addOtherPlugin(t, h)
			test(t, h)
		})
	}
}

func addOtherPlugin(t *testing.T, h *realhelm.Helm) {
	t.Helper()
	write(t, filepath.Join(h.PluginsDir(), "other", "plugin.yaml"), "name: other\nversion: 0.1.0\nusage: x\ndescription: x\ncommand: echo the other plugin\n")
}

// wantPlugins checks which plugins Helm has, and that they still load.
func wantPlugins(t *testing.T, h *realhelm.Helm, want ...string) {
	t.Helper()
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(h.Must("plugin", "list")), "\n")[1:] {
		got = append(got, strings.Fields(line)[0])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if got := h.Must("other"); got != "the other plugin\n" {
		t.Errorf("the other plugin says %q", got)
	}
}

// wantFiles checks what is in the plugins directory.
func wantFiles(t *testing.T, h *realhelm.Helm, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(h.PluginsDir())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the plugins directory (-want +got):\n%s", diff)
	}
}

// wantSays checks that a result has a text.
func wantSays(t *testing.T, r realhelm.Result, want string) {
	t.Helper()
	if !strings.Contains(r.All(), want) {
		t.Errorf("there is no %q in:\n%s", want, r.All())
	}
}

// wantStamps checks that the installed post-renderer works, by the way that the hook
// told for this Helm.
func wantStamps(t *testing.T, h *realhelm.Helm, dir string) {
	t.Helper()
	chart := storyChart(t)
	for _, renderer := range installedPostRenderers(h, dir) {
		out := h.Must("template", "web", chart, "--post-renderer", renderer)
		if n := strings.Count(out, "helm-checksum/configmap.shop-features: "); n != 1 {
			t.Errorf("%s: %d stamps, want 1, in:\n%s", renderer, n, out)
		}
	}
}

// installedPostRenderers returns what can be given to --post-renderer.
func installedPostRenderers(h *realhelm.Helm, dir string) []string {
	if h.Major == 4 {
		return []string{"helm-checksum"}
	}
	h.Path = []string{filepath.Join(dir, "bin"), filepath.Dir(h.Bin)}
	return []string{"helm-checksum", filepath.Join(dir, "bin", "helm-checksum")}
}

func TestPluginFromDirectory(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		source := copySources(t, filepath.Join(t.TempDir(), "helm-checksum"))
		r := h.Run("plugin", "install", source)
		if r.Exit != 0 {
			t.Fatalf("plugin install: exit %d\n%s", r.Exit, r.All())
		}
		installed := filepath.Join(h.PluginsDir(), "helm-checksum")
		wantSays(t, r, "building "+sourceVersion(t, source)+" from source: go build")
		wantSays(t, r, "Installed plugin: checksum")
		checkInstalled(t, h, r, installed)

		// Both Helms refuse to update a directory that is not from a repository. The
		// plugin stays as it was.
		if r := h.Run("plugin", "update", "checksum"); r.Exit == 0 {
			t.Errorf("plugin update of a directory:\n%s", r.All())
		}
		wantStamps(t, h, installed)

		h.Must("plugin", "uninstall", "checksum")
		wantFiles(t, h, "other")
		wantPlugins(t, h, "other")
		if _, err := os.Stat(filepath.Join(source, "plugin.yaml")); err != nil {
			t.Errorf("uninstall removed the user's own directory: %v", err)
		}
	})
}

// checkInstalled checks an installation: the plugins, the subcommands, the
// post-renderer, and what the hook said.
func checkInstalled(t *testing.T, h *realhelm.Helm, hook realhelm.Result, dir string) {
	t.Helper()
	name := filepath.Base(dir)
	if h.Major == 3 {
		wantPlugins(t, h, "checksum", "other")
		wantFiles(t, h, name, "other")
		if strings.Contains(hook.All(), "export PATH=") { // not on PATH yet
			wantSays(t, hook, "--post-renderer "+filepath.Join(dir, "bin", "helm-checksum")+"\n")
		} else {
			wantSays(t, hook, "--post-renderer helm-checksum\n")
		}
	} else {
		wantPlugins(t, h, "checksum", "helm-checksum", "other")
		wantFiles(t, h, name, name+"-postrenderer", "other")
		wantSays(t, hook, "with Helm 4: helm upgrade --install web ./web --post-renderer helm-checksum\n")
	}
	wantStamps(t, h, dir)
	if got, want := h.Must("checksum", "version"), "helm-checksum "+sourceVersion(t, dir)+" ("; !strings.HasPrefix(got, want) {
		t.Errorf("helm checksum version: %q, want %q...", got, want)
	}
}

func TestPluginFromGitRepository(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		source := copySources(t, filepath.Join(t.TempDir(), "helm-checksum"))
		git := func(dir string, args ...string) {
			t.Helper()
			cmd := h.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.org"}, args...)...)
			if r := h.Finish(cmd); r.Exit != 0 {
				t.Fatalf("git %s: %s", args[0], r.All())
			}
		}
		git(source, "init", "--quiet", "--initial-branch", "main")
		git(source, "add", ".")
		git(source, "commit", "--quiet", "--message", "first")

		// A server that Helm does not know: the .git tells it what this is.
		served := t.TempDir()
		git(served, "clone", "--quiet", "--bare", source, "helm-checksum.git")
		published := filepath.Join(served, "helm-checksum.git")
		git(published, "update-server-info") // for a server of plain files
		server := httptest.NewServer(http.FileServer(http.Dir(served)))
		defer server.Close()

		install := []string{"plugin", "install", server.URL + "/helm-checksum.git"}
		if h.Major == 4 {
			install = append(install, "--verify=false") // a repository bears no signature
		}
		r := h.Run(install...)
		if r.Exit != 0 {
			t.Fatalf("plugin install: exit %d\n%s", r.Exit, r.All())
		}
		installed := filepath.Join(h.PluginsDir(), "helm-checksum.git")
		checkInstalled(t, h, r, installed)

		// An update without news: what the hook built must not make the checkout differ
		// from its commit, or Helm refuses.
		h.Must("plugin", "update", "checksum")
		wantStamps(t, h, installed)

		for _, manifest := range []string{"plugin.yaml", "plugin/postrenderer/plugin.yaml"} {
			replace(t, filepath.Join(source, manifest), "version: "+sourceVersion(t, installed), "version: 1.99.0")
		}
		git(source, "commit", "--quiet", "--all", "--message", "next")
		git(source, "push", "--quiet", published, "main")
		git(published, "update-server-info")
		r = h.Run("plugin", "update", "checksum")
		if r.Exit != 0 {
			t.Fatalf("plugin update: exit %d\n%s", r.Exit, r.All())
		}
		wantSays(t, r, "building 1.99.0 from source")
		checkInstalled(t, h, r, installed)

		h.Must("plugin", "uninstall", "checksum")
		wantFiles(t, h, "other")
		wantPlugins(t, h, "other")

		// And once more: nothing of the first installation is in the way.
		h.Must(install...)
		wantStamps(t, h, installed)
	})
}

func TestPluginFromReleaseArchive(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		archive := releaseArchive(t)
		h.Env = append(h.Env, "PATH="+pathWithout(t, h, "go")) // the archive has the program
		parent := t.TempDir()
		if r := h.Finish(h.Command("tar", "-xzf", archive, "-C", parent)); r.Exit != 0 {
			t.Fatal(r.All())
		}
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		r := h.Run("plugin", "install", filepath.Join(parent, name))
		if r.Exit != 0 {
			t.Fatalf("plugin install: exit %d\n%s", r.Exit, r.All())
		}
		if strings.Contains(r.All(), "go build") {
			t.Errorf("it built what the archive brought:\n%s", r.All())
		}
		installed := filepath.Join(h.PluginsDir(), name)
		if h.Major == 3 {
			h.Env = append(h.Env, "PATH="+filepath.Join(installed, "bin")+":"+pathWithout(t, h, "go"))
		}
		checkInstalled(t, h, r, installed)
		h.Must("plugin", "uninstall", "checksum")
		wantFiles(t, h, "other")

		if h.Major == 4 { // which also installs the archive itself
			h.Must("plugin", "install", archive, "--verify=false")
			wantStamps(t, h, installed)
			h.Must("plugin", "uninstall", "checksum")
			wantFiles(t, h, "other")
		}

		// One for another platform says so, rather than fail at the first upgrade.
		write(t, filepath.Join(parent, name, "bin", "helm-checksum"), "#!/no/such/interpreter\n")
		r = h.Run("plugin", "install", filepath.Join(parent, name))
		if r.Exit == 0 {
			t.Errorf("installed a program that does not run:\n%s", r.All())
		}
		wantSays(t, r, "Install the release archive for this platform")
	})
}

func TestPluginWithoutGo(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		h.Env = append(h.Env, "PATH="+pathWithout(t, h, "go"))
		r := h.Run("plugin", "install", copySources(t, filepath.Join(t.TempDir(), "helm-checksum")))
		if r.Exit == 0 {
			t.Errorf("installed without a program:\n%s", r.All())
		}
		wantSays(t, r, "there is no go on PATH to build the sources with. Install Go")
		wantSays(t, r, "or take a release archive")
		h.Must("plugin", "uninstall", "checksum")
		wantPlugins(t, h, "other")
	})
}

func TestPluginInDirectoryWithSpaces(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		h.Home = filepath.Join(h.Home, "a user's home")
		addOtherPlugin(t, h)
		r := h.Run("plugin", "install", copySources(t, filepath.Join(t.TempDir(), "helm checksum")))
		if r.Exit != 0 {
			t.Fatalf("plugin install: exit %d\n%s", r.Exit, r.All())
		}
		wantStamps(t, h, filepath.Join(h.PluginsDir(), "helm checksum"))
		h.Must("plugin", "uninstall", "checksum")
		wantFiles(t, h, "other")
	})
}

func TestPluginTwiceFromTwoDirectories(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		h.Must("plugin", "install", releaseFolder(t))
		r := h.Run("plugin", "install", copySources(t, filepath.Join(t.TempDir(), "another")))
		if r.Exit == 0 {
			t.Fatalf("two plugins of one name:\n%s", r.All())
		}
		// Helm itself can do nothing more, so the hook says what to do.
		command := regexp.MustCompile(`Keep one: (rm .*)`).FindStringSubmatch(r.All())
		if command == nil {
			t.Fatalf("there is no command that mends it in:\n%s", r.All())
		}
		if r := h.Finish(h.Command("sh", "-c", command[1])); r.Exit != 0 {
			t.Fatal(r.All())
		}
		if got := h.Must("other"); got != "the other plugin\n" {
			t.Errorf("the other plugin says %q", got)
		}
	})
}

// One plugins directory, both Helms: what Helm 4 needs would take all plugins from
// Helm 3. "31" is the line of the edge cases.
func TestPluginWhereBothHelmsAre(t *testing.T) {
	helm3, helm4 := realhelm.New(t, 3), realhelm.New(t, 4)
	addOtherPlugin(t, helm4)
	helm3.Home = helm4.Home
	helm4.Path = append(helm4.Path, filepath.Dir(helm3.Bin)) // as `helm`, behind Helm 4
	source := copySources(t, filepath.Join(t.TempDir(), "helm-checksum"))

	r := helm4.Run("plugin", "install", source)
	if r.Exit != 0 {
		t.Fatalf("plugin install: exit %d\n%s", r.Exit, r.All())
	}
	t.Run("31 the manifest of Helm 4 is not added beside Helm 3", func(t *testing.T) {
		wantFiles(t, helm4, "helm-checksum", "other")
		wantPlugins(t, helm3, "checksum", "other")
		wantPlugins(t, helm4, "checksum", "other")
		wantSays(t, r, "Helm 3 loads none of its plugins from a directory that has a plugin of Helm 4")
		wantStamps(t, helm3, filepath.Join(helm3.PluginsDir(), "helm-checksum"))
	})
	t.Run("31 the command that is printed adds it, at the cost that is printed", func(t *testing.T) {
		command := regexp.MustCompile(`(?m)^  (ln .*)$`).FindStringSubmatch(r.All())
		if command == nil {
			t.Fatalf("there is no command in:\n%s", r.All())
		}
		if r := helm4.Finish(helm4.Command("sh", "-c", command[1])); r.Exit != 0 {
			t.Fatal(r.All())
		}
		wantPlugins(t, helm4, "checksum", "helm-checksum", "other")
		wantStamps(t, helm4, "")
		wantSays(t, helm3.Run("other"), "failed to load plugins")
		wantSays(t, helm3.Run("other"), `unknown command "other"`)
	})
	t.Run("31 uninstalling gives Helm 3 its plugins back", func(t *testing.T) {
		helm4.Must("plugin", "uninstall", "checksum")
		wantFiles(t, helm4, "other")
		wantPlugins(t, helm3, "other")
	})
	t.Run("31 a second plugin whose first is gone harms no one", func(t *testing.T) {
		link := filepath.Join(helm4.PluginsDir(), "helm-checksum-postrenderer")
		if err := os.Symlink("helm-checksum/plugin/postrenderer", link); err != nil {
			t.Fatal(err)
		}
		wantPlugins(t, helm3, "other")
		wantPlugins(t, helm4, "other")
	})
}

// A release has one version.
func TestManifestsAreOfOneVersion(t *testing.T) {
	root := moduleRoot(t)
	if got, want := sourceVersion(t, filepath.Join(root, "plugin", "postrenderer")), sourceVersion(t, root); got != want {
		t.Errorf("plugin/postrenderer/plugin.yaml has version %s, plugin.yaml %s", got, want)
	}
}

func TestPluginCompletes(t *testing.T) {
	eachHelm(t, func(t *testing.T, h *realhelm.Helm) {
		h.Must("plugin", "install", releaseFolder(t))
		out := h.Must("__complete", "checksum", "ver")
		for _, want := range []string{"verify\t", "version\t", "\n:4\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("completing `helm checksum ver` has no %q:\n%s", want, out)
			}
		}
	})
}

// release is the release archive for this platform, built once for all tests, and
// removed by TestMain.
var release struct {
	once         sync.Once
	dir, archive string
	err          error
}

// buildArchive builds the release archive for this platform into a directory, and
// unpacks it there.
func buildArchive(dir string) (archive string, err error) {
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "run", "./hack/dist", "-o", dir, "-platform", runtime.GOOS+"/"+runtime.GOARCH, "helm-checksum")
	cmd.Dir = filepath.Dir(strings.TrimSpace(string(root)))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("dist: %w\n%s", err, out)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "helm-checksum_*.tar.gz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("dist made the archives %v, error %v", archives, err)
	}
	out, err := exec.Command("tar", "-xzf", archives[0], "-C", dir).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tar: %w\n%s", err, out)
	}
	return archives[0], nil
}

// releaseArchive returns the release archive for this platform.
func releaseArchive(t *testing.T) string {
	t.Helper()
	release.once.Do(func() {
		if release.dir, release.err = os.MkdirTemp("", "release-"); release.err == nil {
			release.archive, release.err = buildArchive(release.dir)
		}
	})
	if release.err != nil {
		t.Fatal(release.err)
	}
	return release.archive
}

// releaseFolder returns the folder that is in the release archive. Copy it to install it.
func releaseFolder(t *testing.T) string {
	t.Helper()
	return strings.TrimSuffix(releaseArchive(t), ".tar.gz")
}

func TestReleaseArchivesAreReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: this test builds release archives")
	}
	first := releaseArchive(t)
	second, err := buildArchive(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	content := read(t, first)
	if !bytes.Equal(content, read(t, second)) {
		t.Error("the same sources made two different archives")
	}
	sums := filepath.Join(filepath.Dir(first), "helm-checksum_"+sourceVersion(t, moduleRoot(t))+"_checksums.txt")
	if got, want := string(read(t, sums)), fmt.Sprintf("%x  %s\n", sha256.Sum256(content), filepath.Base(first)); got != want {
		t.Errorf("%s: %q, want %q", sums, got, want)
	}
}

// copySources copies what a clone has that the plugin needs.
func copySources(t *testing.T, to string) string {
	t.Helper()
	root := moduleRoot(t)
	for _, name := range []string{".gitignore", "LICENSE", "go.mod", "go.sum", "plugin.yaml", "plugin.complete", "plugin", "cmd", "internal", "renderer"} {
		if out, err := exec.Command("mkdir", "-p", to).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
		if out, err := exec.Command("cp", "-R", filepath.Join(root, name), to).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
	return to
}

// pathWithout returns a PATH for a Helm that lacks one program.
func pathWithout(t *testing.T, h *realhelm.Helm, program string) string {
	t.Helper()
	dir := t.TempDir()
	full := ""
	for _, e := range h.Command("true").Env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			full = path
		}
	}
	for _, folder := range filepath.SplitList(full) {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			if e.Name() != program {
				_ = os.Symlink(filepath.Join(folder, e.Name()), filepath.Join(dir, e.Name())) // the first one counts
			}
		}
	}
	return dir
}

func sourceVersion(t *testing.T, dir string) string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^version: (\S+)$`).FindSubmatch(read(t, filepath.Join(dir, "plugin.yaml")))
	if match == nil {
		t.Fatalf("%s/plugin.yaml has no version", dir)
	}
	return string(match[1])
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	return filepath.Dir(strings.TrimSpace(goEnv(t, "GOMOD")))
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, path, old, new string) {
	t.Helper()
	content := string(read(t, path))
	if !strings.Contains(content, old) {
		t.Fatalf("%s has no %q", path, old)
	}
	write(t, path, strings.ReplaceAll(content, old, new))
}
