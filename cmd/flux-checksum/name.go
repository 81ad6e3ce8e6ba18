package main

import (
	"os"
	"path/filepath"
	"strings"
)

// calledAs is the command as the user typed it.
//
// Helm sets HELM_PLUGIN_NAME for the plugin, which hands over to this program with its
// environment. The Flux CLI sets nothing, but starts a plugin by its path in the plugin
// directory (RFC-0013, Plugin Discovery).
func calledAs(program string, environ []string) string {
	const own = "flux-checksum"
	env := func(key string) string {
		for _, e := range environ {
			if value, ok := strings.CutPrefix(e, key+"="); ok {
				return value
			}
		}
		return ""
	}
	if env("HELM_PLUGIN_NAME") == "checksum" {
		return "helm checksum"
	}
	dir := env("FLUXCD_PLUGINS")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return own
		}
		dir = filepath.Join(home, ".fluxcd", "plugins")
	}
	if filepath.Base(program) != program && sameDir(filepath.Dir(program), dir) {
		return "flux checksum"
	}
	return own
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
