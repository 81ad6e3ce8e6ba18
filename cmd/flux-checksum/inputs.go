package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/helm-checksum/helm-checksum/internal/cli"
)

// stdinName is what messages call standard input.
const stdinName = "standard input"

// inputs are arguments by what they are (CONTRACT.md section 10).
type inputs struct {
	paths   []string // to be searched for HelmReleases
	streams []string // files; "-" for stdin
	charts  []string
	stdin   []byte // the content of "-"

	// releasesInStdin says that "-" has HelmReleases.
	releasesInStdin bool
}

// classify sorts a command's arguments. No command takes "-" beside other arguments.
func (a *app) classify(args []string) (*inputs, error) {
	if len(args) == 0 {
		return nil, errors.New("nothing to look at: give a PATH, or - for a stream on stdin")
	}
	in := &inputs{}
	for _, arg := range args {
		kind, err := cli.Classify(arg)
		if err != nil {
			return nil, err
		}
		switch kind {
		case cli.HelmReleases:
			in.paths = append(in.paths, arg)
		case cli.Chart:
			in.charts = append(in.charts, arg)
		default:
			in.streams = append(in.streams, arg)
		}
		if arg != "-" {
			continue
		}
		if len(args) > 1 {
			return nil, errors.New("- stands for the stream on stdin and goes with no other argument")
		}
		if in.stdin, err = io.ReadAll(a.stdin); err != nil {
			return nil, fmt.Errorf("%s: %w", stdinName, err)
		}
		in.releasesInStdin = cli.HasHelmRelease(in.stdin)
	}
	return in, nil
}
