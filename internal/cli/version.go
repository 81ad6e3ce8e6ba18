package cli

import (
	"fmt"
	"runtime"
)

// version is set by the linker, from plugin.yaml (see the Makefile).
var version = "0.0.0-dev"

// Version says which program this is.
type Version struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"` // OS/ARCH
}

// CurrentVersion returns the version of the running program.
func CurrentVersion() Version {
	return Version{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

// String returns the version in one line.
func (v Version) String() string { return fmt.Sprintf("%s (%s, %s)", v.Version, v.Go, v.Platform) }
