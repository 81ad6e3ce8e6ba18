package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A program is a column of the table.
type program string

const (
	checksum  program = "helm-checksum"
	cat       program = "cat"
	floor     program = "floor"
	floorSum  program = "floor -sum"
	sha256sum program = "sha256sum"
	kustomize program = "kustomize build"
	helm      program = "helm template"
)

// programs in the order in which they run and are shown.
var programs = []program{checksum, cat, floor, floorSum, sha256sum, kustomize, helm}

// built says where the programs are.
type built struct {
	run     string
	command map[program][]string
}

// buildPrograms builds what is ours, as a release is built, and kustomize.
func buildPrograms(dir string) (*built, error) {
	b := &built{run: filepath.Join(dir, "run"), command: make(map[program][]string)}
	for _, p := range []struct{ name, module, pkg string }{
		{"helm-checksum", ".", "./cmd/helm-checksum"},
		{"floor", "bench", "./floor"},
		{"run", "bench", "./run"},
		{"kustomize", "bench", "sigs.k8s.io/kustomize/kustomize/v5"},
	} {
		linked := filepath.Join(dir, p.name+".linked")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", linked, p.pkg)
		cmd.Dir = p.module
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", p.pkg, err, out)
		}
		if err := unpack(linked, filepath.Join(dir, p.name)); err != nil {
			return nil, err
		}
	}
	b.command[checksum] = []string{filepath.Join(dir, "helm-checksum")}
	b.command[floor] = []string{filepath.Join(dir, "floor")}
	b.command[floorSum] = []string{filepath.Join(dir, "floor"), "-sum"}
	b.command[kustomize] = []string{filepath.Join(dir, "kustomize"), "build"}
	b.command[cat] = []string{"cat"}
	b.command[sha256sum] = []string{"sha256sum"}
	return b, nil
}

// unpack writes a program as what unpacks a release archive does, from start to end. As the
// linker has just left it, a program took up to 1 ms of CPU time in 28 more, presumably
// because the kernel's cache holds it in smaller pieces.
func unpack(linked, to string) error {
	b, err := os.ReadFile(linked)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, b, 0o755), os.Remove(linked))
}

// A run is what one run of a program took.
type run struct {
	cpu  time.Duration // user and system
	peak int64         // bytes of memory
}

// once runs a program on a stream.
func (b *built) once(p program, s stream) (run, error) {
	command, file := b.command[p], s.file
	switch p {
	case kustomize:
		command, file = append(slices.Clone(command), s.kustomization), os.DevNull
	case helm:
		command, file = append(slices.Clone(command), s.helmArgs...), os.DevNull
	}
	cmd := exec.Command(b.run, append([]string{file}, command...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return run{}, fmt.Errorf("%s: %w: %.500s", p, err, strings.TrimSpace(stderr.String()))
	}
	var r run
	if _, err := fmt.Sscan(string(out), &r.cpu, &r.peak); err != nil {
		return run{}, fmt.Errorf("%s: %w", p, err)
	}
	return r, nil
}
