package controlplane

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Build returns the path of the control plane's binary. Where the user's cache directory
// does not have the one of these very sources, it is built into it. Build must be called
// inside the project.
func Build(ctx context.Context) (string, error) {
	root, err := output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return "", fmt.Errorf("finding the project's root: %w", err)
	}
	source := filepath.Join(root, "e2e", "controlplane")
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash, err := hashSources(source)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "helm-checksum", "controlplane")
	binary := filepath.Join(dir, "controlplane-"+hash)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "building the control plane from %s: this takes many minutes when it is the first time\n", source)
	if err := build(ctx, source, binary); err != nil {
		return "", fmt.Errorf("building the control plane: %w", err)
	}
	return binary, nil
}

// build builds the module in source into a file. Whoever builds at the same time builds
// the same; the last to be done wins.
func build(ctx context.Context, source, binary string) error {
	// Clients look at the version that the API server says it has.
	version, err := output(ctx, source, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	numbers := strings.Split(strings.TrimPrefix(version, "v"), ".")
	flag := func(name, value string) string {
		return " -X k8s.io/component-base/version." + name + "=" + value
	}
	ldflags := "-s -w" + flag("gitVersion", version) + flag("gitMajor", numbers[0]) + flag("gitMinor", numbers[1])

	unfinished, err := os.CreateTemp(filepath.Dir(binary), "building-")
	if err != nil {
		return err
	}
	unfinished.Close()
	defer os.Remove(unfinished.Name())
	if _, err := output(ctx, source, "go", "build", "-buildvcs=false", "-o", unfinished.Name(), "-ldflags", ldflags, "."); err != nil {
		return err
	}
	if err := os.Chmod(unfinished.Name(), 0o755); err != nil {
		return err
	}
	return os.Rename(unfinished.Name(), binary)
}

// hashSources is a short hash of the module in dir and of the platform it is built for.
func hashSources(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", err
	}
	files = append(files, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum"))
	slices.Sort(files)
	h := sha256.New()
	fmt.Fprintln(h, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, filepath.Base(f), len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// output runs a command of the toolchain outside of any workspace, and without cgo
// so that the same comes out wherever there is no C compiler.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	// The compilers that it has started end with it only if it is asked, not killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(bytes.TrimSpace(out)), nil
}
