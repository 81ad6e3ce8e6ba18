package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

func (a *app) versionCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckFormat(format); err != nil {
				return err
			}
			v := cli.CurrentVersion()
			if format == "json" {
				return cli.WriteJSON(cmd.OutOrStdout(), v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "flux-checksum %s\n", v)
			return err
		},
	}
	addOutputFlag(cmd, &format)
	return cmd
}
