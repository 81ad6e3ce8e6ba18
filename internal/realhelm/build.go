// Package realhelm gives tests and the demo the real helm programs of both major
// versions, built from the modules that tools/go.mod pins.
package realhelm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Path returns a helm executable of a major version, 3 or 4. The first call builds it,
// which takes minutes, into the user's cache directory; later ones find it there.
// The working directory must be in this module.
func Path(major int) (string, error) {
	tools, err := toolsDir()
	if err != nil {
		return "", err
	}
	module := fmt.Sprintf("helm.sh/helm/v%d", major)
	version, err := goOutput(tools, "list", "-m", "-f", "{{.Version}}", module)
	if err != nil {
		return "", err
	}
	compiler, err := goOutput(tools, "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place to keep helm in: %w", err)
	}
	dir := filepath.Join(cache, "helm-checksum", "helm", version+"-"+compiler)
	file := filepath.Join(dir, "helm")
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	return file, build(tools, module+"/cmd/helm", file)
}

// build builds a program of the nested module. Several may do so at once.
func build(tools, pkg, file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(file), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, filepath.Base(file))
	fmt.Fprintf(os.Stderr, "building %s into %s: once, for minutes\n", pkg, file)
	if _, err := goOutput(tools, "build", "-trimpath", "-ldflags", "-s -w", "-o", made, pkg); err != nil {
		return err
	}
	return os.Rename(made, file)
}

// toolsDir returns the nested module's directory.
func toolsDir() (string, error) {
	mod, err := goOutput("", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	tools := filepath.Join(filepath.Dir(mod), "tools")
	if _, err := os.Stat(filepath.Join(tools, "go.mod")); err != nil {
		return "", fmt.Errorf("the working directory is not in the module helm-checksum: %w", err)
	}
	return tools, nil
}

func goOutput(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
