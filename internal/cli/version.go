package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
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

// NewVersionCommand returns the version command of a program.
func NewVersionCommand(program string) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := CheckFormat(format); err != nil {
				return err
			}
			v := CurrentVersion()
			if format == "json" {
				return WriteJSON(cmd.OutOrStdout(), v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", program, v)
			return err
		},
	}
	AddOutputFlag(cmd, &format)
	return cmd
}
