package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/renderer"
)

func (a *app) diffCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show which workloads would roll between two streams, and why",
		Long: `Show which workloads that are in both streams would roll on an upgrade from OLD to
NEW because of what they consume: because of which objects and keys, never values.
OLD and NEW are files, one of them may be - for stdin. It exits with 1 when any would.`,
		Example: `  helm get manifest web > old.yaml
  helm template web ./web | helm-checksum diff old.yaml -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("want two streams, OLD and NEW (see %s --help)", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckFormat(format); err != nil {
				return err
			}
			if args[0] == "-" && args[1] == "-" {
				return errors.New("only one of OLD and NEW can be stdin")
			}
			if done, err := a.handOver(args); done {
				return err
			}
			before, err := a.plan(args[:1])
			if err != nil {
				return err
			}
			after, err := a.plan(args[1:])
			if err != nil {
				return err
			}
			changes, err := renderer.Diff(before, after)
			if err != nil {
				return err
			}
			if err := cli.ShowChanges(cmd.OutOrStdout(), changes, format); err != nil {
				return err
			}
			if len(changes) > 0 {
				return cli.ErrDifference
			}
			return nil
		},
	}
	cli.AddOutputFlag(cmd, &format)
	return cmd
}
