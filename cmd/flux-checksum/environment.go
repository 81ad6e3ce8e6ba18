package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// otherMeaning lists, by command, the options whose variable is about rendering: there it
// means something else than the command's flag of that name, so it is passed over.
//
// For a render --strict fails when an object is not in the stream, and --namespace is the
// release's; whoever sets their variables for that does not ask status to count more, or to
// look elsewhere.
var otherMeaning = map[string][]string{
	"status": {"namespace", "strict"},
}

// variables are those of the environment that a command heeds, with values that its flags take.
func variables(cmd *cobra.Command, environ []string) []string {
	secrets := cmd.Flags().Lookup("secrets")
	onOrOff := secrets != nil && secrets.Value.Type() == "bool"
	var heeded []string
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		option := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, cli.EnvPrefix)), "_", "-")
		switch {
		case !strings.HasPrefix(name, cli.EnvPrefix):
			continue
		case slices.Contains(otherMeaning[cmd.Name()], option):
			continue
		case option == "secrets" && value == "true":
			// The post-renderer stamps for Secrets by default. A variable that says so for it
			// is no wish to have their checksums in Git.
			continue
		case option == "secrets" && onOrOff && slices.Contains(secretsValues, value):
			// How stamp treats Secrets is here only whether they count.
			if value != "none" {
				continue
			}
			e = name + "=false"
		}
		heeded = append(heeded, e)
	}
	return heeded
}
