// Package catalog makes the manifest by which `flux plugin install` finds release
// archives, from the archives themselves.
//
// The form is cli.fluxcd.io/v1beta1 Plugin of RFC-0013 (github.com/fluxcd/flux2, rfcs/0013-cli-plugin-system);
// the rules are those of the catalog's schema and checks (github.com/fluxcd/plugins,
// schemas/plugin-cli-v1beta1.json and the validate-catalog workflow) and of the Flux CLI itself.
package catalog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Plugin is a manifest.
type Plugin struct {
	APIVersion  string    `json:"apiVersion"`
	Kind        string    `json:"kind"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Homepage    string    `json:"homepage"`
	Source      string    `json:"source"`
	Bin         string    `json:"bin"`
	Versions    []Version `json:"versions"` // newest first
}

// A Version is a release.
type Version struct {
	Version   string     `json:"version"` // without v
	Platforms []Platform `json:"platforms"`
}

// A Platform is an archive of a release.
type Platform struct {
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	URL      string `json:"url"`
	Checksum string `json:"checksum"` // sha256:HEX
}

const project = "https://github.com/helm-checksum/helm-checksum"

// DownloadURL is where the archives of a version are.
func DownloadURL(version string) string { return project + "/releases/download/v" + version }

// New returns our plugin with one version, not valid before it has platforms.
func New(version string) *Plugin {
	return &Plugin{
		APIVersion:  "cli.fluxcd.io/v1beta1",
		Kind:        "Plugin",
		Name:        "checksum",
		Description: "Roll pods when the ConfigMaps and Secrets that they consume change: stamps for HelmReleases",
		Homepage:    project,
		Source:      project,
		Bin:         "flux-checksum",
		Versions:    []Version{{Version: version}},
	}
}

// ArchiveName is the name of the archive of a version for a platform.
func ArchiveName(bin, version, os, arch string) string {
	extension := ".tar.gz"
	if os == "windows" {
		extension = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", bin, version, os, arch, extension)
}

// ChecksumsName is the name of the file with the archives' checksums, as sha256sum prints them.
func ChecksumsName(bin, version string) string { return bin + "_" + version + "_checksums.txt" }

// VersionIn is the version whose checksums are in dir.
func VersionIn(dir string) (string, error) {
	bin := New("").Bin
	files, err := filepath.Glob(filepath.Join(dir, ChecksumsName(bin, "*")))
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s: %d files are called %s, want one: build the archives of one version into it, and of no other", dir, len(files), ChecksumsName(bin, "VERSION"))
	}
	name := strings.TrimPrefix(filepath.Base(files[0]), bin+"_")
	return strings.TrimSuffix(name, "_checksums.txt"), nil
}

// FromArchives makes the manifest of a version whose archives and checksums are in dir and will
// be served under url. Each archive must be listed with its true checksum and hold the
// program at its root.
func FromArchives(dir, version, url string) (*Plugin, error) {
	p := New(version)
	checksums, err := readChecksums(filepath.Join(dir, ChecksumsName(p.Bin, version)))
	if err != nil {
		return nil, err
	}
	for _, os := range systems {
		for _, arch := range architectures {
			name := ArchiveName(p.Bin, version, os, arch)
			want, ok := checksums[name]
			if !ok {
				continue
			}
			if err := checkArchive(filepath.Join(dir, name), want, program(p.Bin, os)); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			p.Versions[0].Platforms = append(p.Versions[0].Platforms, Platform{
				OS: os, Arch: arch, URL: strings.TrimSuffix(url, "/") + "/" + name, Checksum: "sha256:" + want,
			})
		}
	}
	return p, p.Validate()
}

// program is the name of the program in an archive (RFC-0013, Plugin Catalog).
func program(bin, os string) string {
	if os == "windows" {
		return bin + ".exe"
	}
	return bin
}

func readChecksums(file string) (map[string]string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	checksums := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return nil, fmt.Errorf("%s: %q is not a checksum and a name", file, lines.Text())
		}
		checksums[name] = sum
	}
	return checksums, lines.Err()
}

func checkArchive(file, checksum, program string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != checksum {
		return errors.New("its checksum is not the one in the list")
	}
	names, err := list(file, content)
	if err != nil {
		return err
	}
	if !slices.Contains(names, program) {
		return fmt.Errorf("%s is not at its root", program)
	}
	return nil
}

var (
	systems       = []string{"darwin", "linux", "windows"}
	architectures = []string{"amd64", "arm64"}

	pluginName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	semver     = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-.+)?$`)
	sha256Sum  = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
)

// builtins are the commands of the Flux CLI that a plugin can't be called like.
var builtins = strings.Fields(`bootstrap build catalog check completion create debug delete diff envsubst
	events export get help install list logs migrate plugin pull push reconcile resume stats suspend tag
	trace tree trigger uninstall version`)

// Validate says which of the catalog's rules the manifest breaks, all of them.
func (p *Plugin) Validate() error {
	var broken []error
	rule := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Errorf(format, args...))
		}
	}
	https := func(url string) bool { return strings.HasPrefix(url, "https://") && len(url) > len("https://") }
	rule(p.APIVersion == "cli.fluxcd.io/v1beta1", "apiVersion %q: want cli.fluxcd.io/v1beta1", p.APIVersion)
	rule(p.Kind == "Plugin", "kind %q: want Plugin", p.Kind)
	rule(pluginName.MatchString(p.Name), "name %q: want lower-case letters, digits and hyphens", p.Name)
	rule(!slices.Contains(builtins, p.Name), "name %q is a command of the Flux CLI", p.Name)
	rule(p.Description != "", "description is missing")
	rule(https(p.Homepage), "homepage %q: want an https URL", p.Homepage)
	rule(https(p.Source), "source %q: want an https URL", p.Source)
	rule(pluginName.MatchString(p.Bin) && strings.HasPrefix(p.Bin, "flux-"), "bin %q: want flux-NAME", p.Bin)
	rule(len(p.Versions) > 0, "versions is empty")
	for i, v := range p.Versions {
		rule(semver.MatchString(v.Version), "versions[%d].version %q: want MAJOR.MINOR.PATCH without v", i, v.Version)
		rule(len(v.Platforms) > 0, "versions[%d].platforms is empty", i)
		seen := map[string]bool{}
		for j, a := range v.Platforms {
			at := fmt.Sprintf("versions[%d].platforms[%d]", i, j)
			rule(slices.Contains(systems, a.OS), "%s.os %q: want %s", at, a.OS, strings.Join(systems, ", "))
			rule(slices.Contains(architectures, a.Arch), "%s.arch %q: want %s", at, a.Arch, strings.Join(architectures, ", "))
			rule(https(a.URL), "%s.url %q: want an https URL", at, a.URL)
			rule(sha256Sum.MatchString(a.Checksum), "%s.checksum %q: want sha256: and 64 hex digits", at, a.Checksum)
			rule(!seen[a.OS+"/"+a.Arch], "%s: %s/%s is there twice", at, a.OS, a.Arch)
			seen[a.OS+"/"+a.Arch] = true
		}
	}
	return errors.Join(broken...)
}
