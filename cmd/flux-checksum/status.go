package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
	"github.com/helm-checksum/helm-checksum/internal/cluster"
)

// statusFlags are the flags of `status`, the connection's apart.
type statusFlags struct {
	namespaces    []string
	allNamespaces bool
	output        string
	watch         bool
	interval      time.Duration
	secrets       bool
	strict        bool
	hmacKeyFile   string
}

// newStatusCommand is "status": it reads a cluster, and changes nothing in it.
func newStatusCommand() *cobra.Command {
	var (
		flags      statusFlags
		connection = cluster.Connection{Env: os.LookupEnv}
	)
	c := &cobra.Command{
		Use:   "status [RELEASE]",
		Short: "Find running pods that work with configuration which is no longer the current one",
		Long: `Look at a live cluster, without changing it: which running pods have read a
ConfigMap or Secret that has changed since? RELEASE, the name of a Helm release or of a
HelmRelease, narrows it to the workloads of that one.

HELM_CHECKSUM_... variables stand for flags, as for the other commands. Those that say how to
render, HELM_CHECKSUM_STRICT and HELM_CHECKSUM_NAMESPACE among them, are passed over:
--strict and --namespace mean something else here.

Exit code: 0 nothing is stale, 1 something is stale or missing, 2 no answer.`,
		Example: `  status -n shop                  the namespace shop
  status web -n shop              the release web in it
  status -A -o json               every namespace, for programs
  status -A --secrets=false       without any right to read Secrets`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		SilenceUsage:      true,
		RunE: func(c *cobra.Command, args []string) error {
			options, err := flags.options(args)
			if err != nil {
				return err
			}
			config, namespace, err := connection.Config()
			if err != nil {
				return err
			}
			switch {
			case flags.allNamespaces:
				options.Namespaces = nil
			case len(options.Namespaces) == 0:
				options.Namespaces = []string{namespace}
			}
			live, err := cluster.New(config)
			if err != nil {
				return err
			}
			look := func(ctx context.Context) (*cluster.Report, error) { return live.Status(ctx, options) }
			if flags.watch {
				return flags.repeat(c, look)
			}
			return flags.once(c.Context(), c.OutOrStdout(), look)
		},
	}
	f := c.Flags()
	f.StringSliceVarP(&flags.namespaces, "namespace", "n", nil, "namespace to look into, several with commas (default the context's)")
	f.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "look into all namespaces, whatever --namespace says")
	f.StringVarP(&flags.output, "output", "o", "table", "table or json")
	f.BoolVarP(&flags.watch, "watch", "w", false, "repeat until interrupted")
	f.DurationVar(&flags.interval, "interval", 10*time.Second, "time between two looks of --watch")
	f.BoolVar(&flags.secrets, "secrets", true, "look at Secrets too; with false no Secret is read")
	f.BoolVar(&flags.strict, "strict", false, "maybe-stale counts as stale")
	f.StringVar(&flags.hmacKeyFile, "hmac-key-file", "", "file with the key of keyed stamps")
	connection.AddFlags(f)
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(cli.Formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (f *statusFlags) options(args []string) (cluster.Options, error) {
	o := cluster.Options{Namespaces: f.namespaces, IgnoreSecrets: !f.secrets}
	if len(args) == 1 {
		if o.Release = args[0]; o.Release == "" {
			return o, errors.New("the name of the release is empty: leave it out to look at all")
		}
	}
	if err := cli.CheckFormat(f.output); err != nil {
		return o, err
	}
	if f.interval < time.Second {
		return o, fmt.Errorf("--interval %s: a second is the least", f.interval)
	}
	for _, ns := range f.namespaces {
		if ns == "" {
			return o, errors.New("--namespace: empty; --all-namespaces looks into all")
		}
	}
	var err error
	o.HMACKey, err = cli.ReadHMACKey(f.hmacKeyFile)
	return o, err
}

// once looks and prints. The error is cli.ErrDifference when something is stale.
func (f *statusFlags) once(ctx context.Context, out io.Writer, look func(context.Context) (*cluster.Report, error)) error {
	report, err := look(ctx)
	if err != nil {
		return err
	}
	// The whole text goes out at once: a table is not torn when it is watched.
	var text bytes.Buffer
	switch {
	case f.output != "json":
		err = report.WriteTable(&text)
	case f.watch: // one line per look
		err = json.NewEncoder(&text).Encode(report)
	default:
		err = cli.WriteJSON(&text, report)
	}
	if err != nil {
		return err
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if report.Difference(f.strict) {
		return cli.ErrDifference
	}
	return nil
}

// repeat looks until it is interrupted, and ends as the last look did. A look that
// fails after the first is told on stderr: a cluster may be away for a moment.
func (f *statusFlags) repeat(c *cobra.Command, look func(context.Context) (*cluster.Report, error)) error {
	ctx := c.Context() // it ends when the user interrupts
	var last error
	for first := true; ; first = false {
		out := c.OutOrStdout()
		if f.output == "table" && !first {
			fmt.Fprintf(out, "\n%s\n", time.Now().Format(time.RFC3339))
		}
		err := f.once(ctx, out, look)
		switch {
		case ctx.Err() != nil:
			return last
		case err == nil || errors.Is(err, cli.ErrDifference):
			last = err
		case first:
			return err
		default:
			last = err
			fmt.Fprintf(c.ErrOrStderr(), "%s: %v\n", c.CommandPath(), err)
		}
		select {
		case <-ctx.Done():
			return last
		case <-time.After(f.interval):
		}
	}
}
