// Package cli is what the commands helm-checksum and flux-checksum share: the
// engine's flags and variables, how an argument is understood, how a plan is shown.
// It is as light as the post-renderer that imports it.
package cli

import "errors"

// The exit statuses of CONTRACT.md section 8.
const (
	ExitOK         = 0
	ExitDifference = 1 // verify, diff and status found one
	ExitError      = 2
)

// ErrDifference makes a command exit with 1 when all there was to say has been said.
var ErrDifference = errors.New("there are differences")

// ExitStatus returns the exit status for a command's error.
func ExitStatus(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrDifference):
		return ExitDifference
	}
	return ExitError
}
