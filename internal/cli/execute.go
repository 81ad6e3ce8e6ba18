package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Execute runs a tree of commands, with the arguments that it was given, to their end.
// What cobra lets pass is an error: help about a command or completion for a shell that
// there is not, and help, completion or a version that can't be written.
func Execute(ctx context.Context, cmd *cobra.Command, stdout io.Writer) error {
	out := &output{w: stdout}
	cmd.SetOut(out)
	cmd.InitDefaultHelpCmd()
	cmd.InitDefaultCompletionCmd()
	for _, c := range cmd.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, helpAbout
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	if err := cmd.ExecuteContext(ctx); err != nil {
		return err
	}
	if out.err != nil {
		return fmt.Errorf("stdout: %w", out.err)
	}
	return nil
}

// helpAbout shows the help of the command that the arguments name.
func helpAbout(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("unknown command %q (see %s --help)", strings.Join(args, " "), cmd.Root().CommandPath())
	}
	about.InitDefaultHelpFlag()
	about.InitDefaultVersionFlag()
	return about.Help()
}

// An output keeps the first error of writing.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
