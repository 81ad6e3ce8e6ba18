package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/renderer"
)

func (a *app) explainCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "explain [FILE...]",
		Short: "Show who consumes what, which keys, through what, stamped or why not",
		Long: `Show every workload in the stream, which ConfigMaps and Secrets its pods consume,
which keys of them and through what, and whether they are stamped or why not.

Without FILE or with - it reads stdin. Several files are one stream: a workload in
one may consume a ConfigMap in another. -o json prints the report.`,
		Example: `  helm template web ./web | helm-checksum explain
  helm-checksum explain -n prod rendered/*.yaml -o json`,
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
			return cli.ShowPlan(cmd.OutOrStdout(), plan, format)
		},
	}
	cli.AddOutputFlag(cmd, &format)
	return cmd
}

// plan reads the stream in files and plans it, its warnings said.
func (a *app) plan(files []string) (*renderer.Plan, error) {
	r, err := a.options.Renderer()
	if err != nil {
		return nil, err
	}
	if len(files) == 0 || slices.Contains(files, "-") {
		a.sayWaiting()
	}
	in, err := cli.ReadInput(files, a.stdin)
	if err != nil {
		return nil, err
	}
	plan, err := r.Plan(in.Stream)
	if err != nil {
		return nil, in.Place(err)
	}
	a.warn(plan.Warnings...)
	return plan, nil
}
