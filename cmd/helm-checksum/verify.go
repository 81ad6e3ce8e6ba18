package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/renderer"
)

func (a *app) verifyCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "verify [FILE...]",
		Short: "Check the stamps in a stream, such as rendered manifests kept in Git",
		Long: `Check that the stamps in a stream are those that the post-renderer would write:
none missing, stale or surplus. It prints what differs and exits with 1 then.

A stamp for an object that is not in the stream can't be judged and is no difference.
Give the options that the stamps were written with.`,
		Example: `  helm-checksum verify rendered/*.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckFormat(format); err != nil {
				return err
			}
			if done, err := a.handOver(args); done {
				return err
			}
			plan, err := a.plan(args)
			if err != nil {
				return err
			}
			differences := renderer.Verify(plan)
			if err := cli.ShowDifferences(cmd.OutOrStdout(), differences, format); err != nil {
				return err
			}
			if len(differences) > 0 {
				return cli.ErrDifference
			}
			if format == "table" {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "All stamps are right: %s.\n", counted(plan))
			}
			return err
		},
	}
	cli.AddOutputFlag(cmd, &format)
	return cmd
}

// counted says what a stream has, so that nothing found is told from nothing looked at.
func counted(p *renderer.Plan) string {
	stamps := 0
	for _, w := range p.Workloads {
		stamps += len(w.Found)
	}
	return cli.Count(stamps, "stamp") + ", " + cli.Count(len(p.Workloads), "pod template")
}
