// Command plugin-manifest writes the manifest for the catalog of Flux CLI plugins from
// the release archives of flux-checksum and their checksums, beside them:
//
//	go run ./hack/plugin-manifest [-url URL] [DIR]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/helm-checksum/helm-checksum/internal/catalog"
)

func main() {
	url := flag.String("url", "", "where the archives are served (default: the project's releases)")
	flag.Parse()
	dir := "dist"
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	file, err := run(dir, *url)
	if err != nil {
		fmt.Fprintf(os.Stderr, "plugin-manifest: %v\n", err)
		os.Exit(1)
	}
	fmt.Println(file)
}

func run(dir, url string) (file string, err error) {
	version, err := catalog.VersionIn(dir)
	if err != nil {
		return "", err
	}
	if url == "" {
		url = catalog.DownloadURL(version)
	}
	manifest, err := catalog.FromArchives(dir, version, url)
	if err != nil {
		return "", err
	}
	text, err := yaml.Marshal(manifest)
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, manifest.Name+".yaml")
	return file, os.WriteFile(file, text, 0o644)
}
