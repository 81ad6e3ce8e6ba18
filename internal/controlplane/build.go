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
)

// Build returns the path of the control plane's binary, built if the cache does not
// have the one of these very sources. It must be called inside the project.
func Build(ctx context.Context) (string, error) {
	root, err := output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return "", fmt.Errorf("finding the project's root: %w", err)
	}
	source := filepath.Join(root, "e2e", "controlplane")
	return buildCached(ctx, source, "controlplane", func() ([]string, error) {
		// Clients look at the version that the API server says it has.
		version, err := output(ctx, source, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
		if err != nil {
			return nil, err
		}
		numbers := strings.Split(strings.TrimPrefix(version, "v"), ".")
		flag := func(name, value string) string {
			return " -X k8s.io/component-base/version." + name + "=" + value
		}
		return []string{"-ldflags", "-s -w" + flag("gitVersion", version) + flag("gitMajor", numbers[0]) + flag("gitMinor", numbers[1]), "."}, nil
	})
}

// BuildTool returns the path of a binary of the nested module tools, such as
// helm.sh/helm/v4/cmd/helm, named name and built if the cache does not have it.
func BuildTool(ctx context.Context, name, pkg string) (string, error) {
	root, err := output(ctx, ".", "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return "", fmt.Errorf("finding the project's root: %w", err)
	}
	return buildCached(ctx, filepath.Join(root, "tools"), name, func() ([]string, error) {
		return []string{"-ldflags", "-s -w", pkg}, nil
	})
}

// buildCached builds from the module in source into the user's cache directory, under a
// hash of its files. arguments, asked for only then, are those of go build.
func buildCached(ctx context.Context, source, name string, arguments func() ([]string, error)) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash, err := hashSources(source)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "helm-checksum", name)
	binary := filepath.Join(dir, name+"-"+hash)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	args, err := arguments()
	if err != nil {
		return "", err
	}
	// Whoever builds at the same time builds the same; the last to be done wins.
	unfinished, err := os.CreateTemp(dir, "building-")
	if err != nil {
		return "", err
	}
	unfinished.Close()
	defer os.Remove(unfinished.Name())
	fmt.Fprintf(os.Stderr, "building %s from %s: this takes minutes when it is the first time\n", name, source)
	if _, err := output(ctx, source, "go", append([]string{"build", "-buildvcs=false", "-o", unfinished.Name()}, args...)...); err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	if err := os.Chmod(unfinished.Name(), 0o755); err != nil {
		return "", err
	}
	return binary, os.Rename(unfinished.Name(), binary)
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

// Run runs a command of the toolchain in dir.
func Run(ctx context.Context, dir, name string, args ...string) error {
	_, err := output(ctx, dir, name, args...)
	return err
}

// output runs a command of the toolchain outside of any workspace, and without cgo
// so that the same comes out wherever there is no C compiler.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
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
