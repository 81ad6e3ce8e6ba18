// Command dist builds the release archives into dist/, or a folder that is given:
//
//	go run ./hack/dist [-o DIR] [-platform OS/ARCH[,OS/ARCH]] [PROGRAM...]
//
// The same sources and Go version make the same bytes. The version is plugin.yaml's.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are those that releases are for.
var platforms = []string{
	"darwin/amd64", "darwin/arm64",
	"linux/amd64", "linux/arm64",
	"windows/amd64", "windows/arm64",
}

// A product is what archives are made of.
type product struct {
	name    string   // of the program, of cmd/NAME, and first in the archive's name
	files   []string // files and folders that go with it
	folder  bool     // whether the archive holds one folder that bears its name
	program string   // the folder of the program in it
	zip     bool     // whether it is a zip for Windows
}

// documents go with every program: the README, and what it and its pages link to.
var documents = []string{"LICENSE", "README.md", "docs", "deploy"}

var products = []product{
	// A folder for `helm plugin install`. Helm 4 also installs the archive itself, and
	// then the folder has to bear its name.
	{name: "helm-checksum", files: slices.Concat(documents, []string{"plugin.yaml", "plugin.complete", "plugin"}), folder: true, program: "bin"},
	// What `flux plugin install` unpacks.
	{name: "flux-checksum", files: documents, zip: true},
}

func main() {
	out := flag.String("o", "dist", "write the archives into `DIR`")
	only := flag.String("platform", strings.Join(platforms, ","), "the platforms, `OS/ARCH`, separated by commas")
	flag.Parse()
	if err := run(*out, strings.Split(*only, ","), flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "dist: %v\n", err)
		os.Exit(1)
	}
}

// run makes the archives of the named programs, or of all.
func run(out string, platforms, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(products, func(p product) bool { return p.name == name }) {
			return fmt.Errorf("there is no program %q", name)
		}
	}
	version, err := pluginVersion()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, p := range products {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		var sums strings.Builder
		for _, platform := range slices.Sorted(slices.Values(platforms)) {
			name, content, err := p.archive(version, platform)
			if err != nil {
				return fmt.Errorf("%s for %s: %w", p.name, platform, err)
			}
			if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
			fmt.Println(filepath.Join(out, name))
		}
		file := filepath.Join(out, fmt.Sprintf("%s_%s_checksums.txt", p.name, version))
		if err := os.WriteFile(file, []byte(sums.String()), 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// archive builds one program and packs it.
func (p product) archive(version, platform string) (name string, content []byte, err error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return "", nil, fmt.Errorf("want OS/ARCH")
	}
	base := fmt.Sprintf("%s_%s_%s_%s", p.name, version, goos, goarch)
	files, err := readFiles(p.files)
	if err != nil {
		return "", nil, err
	}
	program, err := build(p.name, version, goos, goarch)
	if err != nil {
		return "", nil, err
	}
	binary := p.name
	if goos == "windows" {
		binary += ".exe"
	}
	files = append(files, file{name: strings.TrimPrefix(p.program+"/"+binary, "/"), content: program, executable: true})
	if p.folder {
		for i := range files {
			files[i].name = base + "/" + files[i].name
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	if p.zip && goos == "windows" {
		content, err = zipOf(files)
		return base + ".zip", content, err
	}
	content, err = tarOf(files)
	return base + ".tar.gz", content, err
}

// build returns a program for a platform.
func build(name, version, goos, goarch string) ([]byte, error) {
	temp, err := os.MkdirTemp("", "dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	made := filepath.Join(temp, name)
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -X github.com/helm-checksum/helm-checksum/internal/cli.version="+version,
		"-o", made, "./cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	return os.ReadFile(made)
}

// pluginVersion returns the version in plugin.yaml. The post-renderer's manifest must
// have the same.
func pluginVersion() (string, error) {
	var found []string
	for _, name := range []string{"plugin.yaml", "plugin/postrenderer/plugin.yaml"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		match := regexp.MustCompile(`(?m)^version: (\S+)$`).FindSubmatch(content)
		if match == nil {
			return "", fmt.Errorf("%s has no version", name)
		}
		found = append(found, string(match[1]))
	}
	if found[0] != found[1] {
		return "", fmt.Errorf("plugin.yaml has version %s, plugin/postrenderer/plugin.yaml %s", found[0], found[1])
	}
	return found[0], nil
}
