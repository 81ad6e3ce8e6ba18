package catalog

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the expected files")

// pack makes an archive of the kind that its name says.
func pack(t *testing.T, name string, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasSuffix(name, ".zip") {
		w := zip.NewWriter(&b)
		for file, content := range files {
			f, err := w.Create(file)
			check(err)
			_, err = io.WriteString(f, content)
			check(err)
		}
		check(w.Close())
		return b.Bytes()
	}
	zipped := gzip.NewWriter(&b)
	w := tar.NewWriter(zipped)
	for file, content := range files {
		check(w.WriteHeader(&tar.Header{Name: file, Mode: 0o755, Size: int64(len(content))}))
		_, err := io.WriteString(w, content)
		check(err)
	}
	check(w.Close())
	check(zipped.Close())
	return b.Bytes()
}

// archives makes a release with programs that are only names.
func archives(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var checksums strings.Builder
	for _, system := range systems {
		for _, arch := range architectures {
			name := ArchiveName("flux-checksum", "1.2.3", system, arch)
			content := pack(t, name, map[string]string{program("flux-checksum", system): system + arch, "LICENSE": "license"})
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(content)
			checksums.WriteString(hex.EncodeToString(sum[:]) + "  " + name + "\n")
		}
	}
	file := filepath.Join(dir, ChecksumsName("flux-checksum", "1.2.3"))
	if err := os.WriteFile(file, []byte(checksums.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestManifestOfArchives(t *testing.T) {
	p, err := FromArchives(archives(t), "1.2.3", DownloadURL("1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.Versions[0].Platforms {
		// The archives' bytes depend on Go's compressor, so their sums are not in the file.
		if !sha256Sum.MatchString(a.Checksum) {
			t.Errorf("checksum %q", a.Checksum)
		}
	}
	for i := range p.Versions[0].Platforms {
		p.Versions[0].Platforms[i].Checksum = "sha256:" + strings.Repeat("0", 64)
	}
	got, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const file = "testdata/checksum.yaml"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

func TestArchivesThatAreNotAsListed(t *testing.T) {
	name := ArchiveName("flux-checksum", "1.2.3", "linux", "amd64")
	for what, spoil := range map[string]func(file string) error{
		"another checksum": func(file string) error { return os.WriteFile(file, []byte("x"), 0o644) },
		"no archive":       os.Remove,
	} {
		t.Run(what, func(t *testing.T) {
			dir := archives(t)
			if err := spoil(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if _, err := FromArchives(dir, "1.2.3", DownloadURL("1.2.3")); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error %v", err)
			}
		})
	}
	dir := archives(t)
	content := pack(t, name, map[string]string{"bin/flux-checksum": "nested"})
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	err := checkArchive(filepath.Join(dir, name), hex.EncodeToString(sum[:]), "flux-checksum")
	if err == nil || !strings.Contains(err.Error(), "not at its root") {
		t.Errorf("the program is in a folder: %v", err)
	}
}

func TestRulesOfTheCatalog(t *testing.T) {
	valid := func() *Plugin {
		p := New("1.2.3")
		p.Versions[0].Platforms = []Platform{{"linux", "amd64", "https://example.com/a.tar.gz", "sha256:" + strings.Repeat("a", 64)}}
		return p
	}
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(p *Plugin){
		"apiVersion":                           func(p *Plugin) { p.APIVersion = "v1" },
		"kind":                                 func(p *Plugin) { p.Kind = "plugin" },
		"name":                                 func(p *Plugin) { p.Name = "Checksum" },
		"\"diff\" is a command of the Flux":    func(p *Plugin) { p.Name = "diff" },
		"\"trigger\" is a command of the Flux": func(p *Plugin) { p.Name = "trigger" },
		"description":                          func(p *Plugin) { p.Description = "" },
		"homepage":                             func(p *Plugin) { p.Homepage = "http://example.com" },
		"source":                               func(p *Plugin) { p.Source = "https://" },
		"bin":                                  func(p *Plugin) { p.Bin = "checksum" },
		"versions is empty":                    func(p *Plugin) { p.Versions = nil },
		"version \"v1.2.3\"":                   func(p *Plugin) { p.Versions[0].Version = "v1.2.3" },
		"platforms is empty":                   func(p *Plugin) { p.Versions[0].Platforms = nil },
		"os \"plan9\"":                         func(p *Plugin) { p.Versions[0].Platforms[0].OS = "plan9" },
		"arch \"386\"":                         func(p *Plugin) { p.Versions[0].Platforms[0].Arch = "386" },
		"url":                                  func(p *Plugin) { p.Versions[0].Platforms[0].URL = "a.tar.gz" },
		"checksum":                             func(p *Plugin) { p.Versions[0].Platforms[0].Checksum = strings.Repeat("a", 64) },
		"linux/amd64 is there twice": func(p *Plugin) {
			v := &p.Versions[0]
			v.Platforms = append(v.Platforms, v.Platforms[0])
		},
	} {
		t.Run(field, func(t *testing.T) {
			p := valid()
			spoil(p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), field) {
				t.Errorf("error %v", err)
			}
		})
	}
}
