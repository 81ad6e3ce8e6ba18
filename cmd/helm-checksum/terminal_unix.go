//go:build !windows

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeToTerminal writes to the controlling terminal, if there is one.
func writeToTerminal(message string) {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer tty.Close()
	_, _ = tty.WriteString(message)
}

// closedAtStart says whether a standard stream was closed when the program started:
// the Go runtime then puts /dev/null there, for reading and writing, which a shell's
// "> /dev/null" is not.
func closedAtStart(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return true
	}
	var at, null unix.Stat_t
	return flags&unix.O_ACCMODE == unix.O_RDWR &&
		unix.Fstat(int(f.Fd()), &at) == nil && unix.Stat(os.DevNull, &null) == nil && at.Rdev == null.Rdev && at.Mode&unix.S_IFMT == unix.S_IFCHR
}
