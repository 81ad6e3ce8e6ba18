package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestHelpShowsTheNameThatWasUsed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	plugins := filepath.Join(home, ".fluxcd", "plugins")
	other := t.TempDir()
	if err := os.MkdirAll(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		program string
		environ []string
		want    string
	}{
		{"by name", "flux-checksum", nil, "flux-checksum"},
		{"by path", "/usr/local/bin/flux-checksum", nil, "flux-checksum"},
		{"Flux's default directory", filepath.Join(plugins, "flux-checksum"), nil, "flux checksum"},
		{"FLUXCD_PLUGINS", filepath.Join(other, "flux-checksum"), []string{"FLUXCD_PLUGINS=" + other}, "flux checksum"},
		{"FLUXCD_PLUGINS is another", filepath.Join(plugins, "flux-checksum"), []string{"FLUXCD_PLUGINS=" + other}, "flux-checksum"},
		{"Helm", "/anywhere/flux-checksum", []string{"HELM_PLUGIN_NAME=checksum"}, "helm checksum"},
		{"another Helm plugin", "flux-checksum", []string{"HELM_PLUGIN_NAME=diff"}, "flux-checksum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := calledAs(c.program, c.environ); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
