package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// The names of our two plugins (plugin.yaml and the one of Helm 4's post-renderer).
const (
	cliPlugin          = "checksum"
	postRendererPlugin = "helm-checksum"
)

// An app is one run of the command.
type app struct {
	stdin, stdout, stderr *os.File

	options cli.Options
	report  string
}

const help = `A Helm post-renderer. It reads rendered manifests on stdin, finds the ConfigMaps
and Secrets that each pod template consumes, and writes their checksums into its
annotations: a change of configuration rolls the pods that read it, and no others.

  Helm 3:  helm upgrade --install web ./web --post-renderer helm-checksum
  Helm 4:  helm plugin install DIR, then the same command
  By hand: helm template web ./web | %[1]s

Options go through Helm as --post-renderer-args --strict, or as variables:
HELM_CHECKSUM_STRICT=true, HELM_CHECKSUM_IGNORE=configmap/a,secret/b.
HELM_CHECKSUM_LOG names a file for warnings, which Helm does not show.`

// run does what the arguments ask for.
func (a *app) run(args []string) error {
	// Helm runs us with nothing but flags, if any, in every upgrade of every release: that
	// needs no tree of commands, which takes longer to build than a chart to stamp.
	if len(args) == 0 && !cli.InEnvironment(os.Environ()) {
		a.options = cli.DefaultOptions()
		a.takeNamespace()
		return a.postRender()
	}
	flags := pflag.NewFlagSet("helm-checksum", pflag.ContinueOnError)
	a.options.AddFlags(flags)
	a.addReportFlag(flags)
	flags.Usage = func() {}
	if flags.Parse(args) == nil && flags.NArg() == 0 {
		if err := a.environment(flags); err != nil {
			return err
		}
		return a.postRender()
	}
	a.options, a.report = cli.Options{}, ""
	cmd := a.command()
	cmd.SetArgs(args)
	cmd.SetIn(a.stdin)
	cmd.SetErr(a.stderr)
	return cli.Execute(context.Background(), cmd, a.stdout)
}

func (a *app) addReportFlag(flags *pflag.FlagSet) {
	flags.StringVar(&a.report, "report", "", "write the report, as JSON, to `FILE` (%p: the process id)")
}

func (a *app) command() *cobra.Command {
	name := commandName()
	cmd := &cobra.Command{
		Use:           "helm-checksum", // shown as the name below
		Short:         "Stamp what every workload consumes: a Helm post-renderer",
		Long:          fmt.Sprintf(help, name),
		Args:          noCommand,
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,

		RunE:        func(*cobra.Command, []string) error { return a.postRender() },
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: name},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return a.environment(cmd.Flags())
		},
	}
	a.options.AddFlags(cmd.PersistentFlags())
	cmd.PersistentFlags().SortFlags = false
	a.addReportFlag(cmd.Flags())
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasParent() {
			if done, err := a.handOverFlags(os.Args[1:]); done {
				return err
			}
		}
		return fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath())
	})
	cmd.AddCommand(a.explainCommand(), a.verifyCommand(), a.diffCommand(), cli.NewVersionCommand("helm-checksum"))
	cmd.AddCommand(a.handoverCommands()...)
	return cmd
}

func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = ", did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("unknown command %q%s (see %s --help)", args[0], hint, cmd.CommandPath())
}

// commandName is how the user calls us: Helm runs us as the plugin "checksum".
func commandName() string {
	if os.Getenv("HELM_PLUGIN_NAME") == cliPlugin {
		return "helm checksum"
	}
	return "helm-checksum"
}

// environment sets what is not given as a flag from HELM_CHECKSUM_... variables.
func (a *app) environment(flags *pflag.FlagSet) error {
	warnings, err := cli.ApplyEnvironment(os.Environ(), flags, "report", "output")
	if err != nil {
		return err
	}
	a.warn(warnings...)
	a.takeNamespace()
	return nil
}

// takeNamespace takes the namespace that Helm gives, if none was given to us.
func (a *app) takeNamespace() {
	// Helm tells a CLI plugin the right namespace. What a post-renderer finds in
	// HELM_NAMESPACE may be another release's.
	if a.options.Namespace == "" && os.Getenv("HELM_PLUGIN_NAME") == cliPlugin {
		a.options.Namespace = os.Getenv("HELM_NAMESPACE")
	}
}

// sayWaiting says what is waited for, when a person is to type it.
func (a *app) sayWaiting() {
	if term.IsTerminal(int(a.stdin.Fd())) {
		fmt.Fprintf(a.stderr, "helm-checksum: waiting for rendered manifests on stdin, such as those of helm template (%s --help for more)\n", commandName())
	}
}

// warn says what may be wrong. Helm shows a post-renderer's stderr only when it
// fails, or never, so it goes to the log too.
func (a *app) warn(warnings ...string) {
	for _, warning := range warnings {
		message := cli.PrintableMessage(fmt.Sprintf("helm-checksum: warning: %s\n", warning))
		fmt.Fprint(a.stderr, message)
		a.log(message)
	}
}

// log appends a line to the file named by HELM_CHECKSUM_LOG, the time first.
func (a *app) log(message string) {
	file := os.Getenv(cli.LogVariable)
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		line := strings.ReplaceAll(strings.TrimSuffix(message, "\n"), "\n", " ")
		_, err = fmt.Fprintf(f, "%s %s\n", time.Now().UTC().Format(time.RFC3339), line)
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "helm-checksum: warning: %s: %v\n", cli.LogVariable, err)
	}
}

// hiddenByHelm says whether we run where nobody sees stderr: Helm 4 shows none of a
// post-renderer plugin's (helm/helm#31843).
func (a *app) hiddenByHelm() bool {
	return os.Getenv("HELM_PLUGIN_NAME") == postRendererPlugin && !term.IsTerminal(int(a.stderr.Fd()))
}
