package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// An app is one run of the command.
type app struct {
	name    string // as the user calls it
	environ []string

	stdin, stdout, stderr *os.File
}

// errSaid makes a command exit with 2 when all errors have been printed already.
var errSaid = errors.New("there were errors")

func (a *app) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "flux-checksum",
		Short: "Roll pods when the configuration that they consume changes",
		Long: `Write the checksums of the ConfigMaps and Secrets that pods consume into Flux
HelmReleases, and check in CI that none is stale. A change of configuration then
rolls the pods that read it, and no others.`,
		Example: fmt.Sprintf(`  %[1]s stamp clusters/ apps/
  %[1]s verify clusters/ apps/
  %[1]s explain ./chart -f values.yaml`, a.name),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: a.name},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			warnings, err := cli.ApplyEnvironment(variables(cmd, a.environ), cmd.Flags(), otherVariables...)
			for _, w := range warnings {
				a.warn("%s", w)
			}
			return err
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	})
	cmd.AddCommand(
		a.stampCommand(),
		a.verifyCommand(),
		a.explainCommand(),
		a.diffCommand(),
		newStatusCommand(),
		newPolicyCommand(),
		cli.NewVersionCommand("flux-checksum"),
	)
	return cmd
}

// otherVariables are options of the post-renderer or of other subcommands, whose
// variables may be there.
var otherVariables = []string{
	"namespace", "strict", "opt-in", "skip", "ignore", "workload", "hmac-key-file", "secrets", "report", "output",
}

func (a *app) warn(format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	fmt.Fprintf(a.stderr, "warning: %s\n", text)
}

func (a *app) fail(err error) { fmt.Fprintf(a.stderr, "✗ %v\n", err) }

// env is a variable of the environment.
func (a *app) env(key string) string {
	for _, e := range a.environ {
		if len(e) > len(key) && e[len(key)] == '=' && e[:len(key)] == key {
			return e[len(key)+1:]
		}
	}
	return ""
}
