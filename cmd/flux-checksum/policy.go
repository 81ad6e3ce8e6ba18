package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/helm-checksum/helm-checksum/internal/cluster"
	"github.com/helm-checksum/helm-checksum/internal/policy"
	"github.com/spf13/cobra"
)

// newPolicyCommand is "policy": it prints, and changes nothing anywhere. Its errors are
// about options, and with --check about the cluster.
func newPolicyCommand() *cobra.Command {
	var (
		options            policy.Options
		secrets            bool
		explain, uninstall bool
		check              bool
	)
	connection := cluster.Connection{Env: os.LookupEnv}
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Print admission policies with which the API server stamps by itself",
		Long: `Prints MutatingAdmissionPolicies, and their bindings, for kubectl apply. With them
the API server stamps a workload, whenever one is written, with the resourceVersion
of each ConfigMap and Secret that its pods consume. So it rolls for what no chart
renders, too, without anything of ours running in the cluster.

Only --check talks to a cluster. They need Kubernetes ` + policy.MinimumVersion + ` or later, and act in namespaces that are labelled
` + strings.Replace(policy.DefaultNamespaceSelector, "=", ": ", 1) + `. Read --explain before you apply them.`,
		Example: `  flux checksum policy | kubectl apply --server-side -f -
  kubectl label namespace shop ` + policy.DefaultNamespaceSelector + `

  flux checksum policy --opt-in --secrets=false --kinds argo,kruise
  flux checksum policy --check
  flux checksum policy --uninstall`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		SilenceUsage:      true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options.NoSecrets = !secrets
			switch out := cmd.OutOrStdout(); {
			case explain:
				return policy.Explain(out, options)
			case uninstall:
				return policy.Uninstall(out, options)
			case check:
				config, _, err := connection.Config()
				if err != nil {
					return err
				}
				return policy.Check(cmd.Context(), out, config, options)
			default:
				return policy.Write(out, options)
			}
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&options.NamespaceSelector, "namespace-selector", policy.DefaultNamespaceSelector,
		"label selector for the namespaces to act in; kube-system is never one")
	flags.StringVar(&options.ConfigSelector, "config-selector", "",
		"label selector for the config objects that count; owner!=helm leaves Helm's own records of releases out")
	flags.BoolVar(&options.OptIn, "opt-in", false, `stamp only workloads annotated helm-checksum/stamp: "true"`)
	flags.BoolVar(&secrets, "secrets", true, "stamp for Secrets, too")
	flags.StringSliceVar(&options.Kinds, "kinds", nil,
		fmt.Sprintf("custom resources to stamp as well: %s", strings.Join(policy.Families(), ", ")))
	flags.StringSliceVar(&options.Workloads, "workload", nil, "another kind with a pod template, as GROUP/KIND=PATH (repeatable)")
	flags.BoolVar(&options.AlsoStamped, "also-stamped", false, "stamp also for objects that a checksum stamp is there for")
	flags.StringVar(&options.FailurePolicy, "failure-policy", policy.Ignore,
		"what becomes of a request when a policy can't be evaluated: "+policy.Ignore+" or "+policy.Fail)
	flags.BoolVar(&explain, "explain", false, "say what the policies do with these options and what they can't reach, instead")
	flags.BoolVar(&uninstall, "uninstall", false, "say how to switch the policies off, and why not by deleting them, instead")
	flags.BoolVar(&check, "check", false, "ask the cluster whether the policies can be applied to it, by you, instead")
	connection.AddFlags(flags)
	cmd.MarkFlagsMutuallyExclusive("explain", "uninstall", "check")
	return cmd
}
