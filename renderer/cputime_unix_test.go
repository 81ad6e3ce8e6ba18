//go:build unix

package renderer_test

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that this process has used, which other processes do not add to.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only on a bad pointer
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
