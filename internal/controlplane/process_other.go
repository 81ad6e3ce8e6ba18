//go:build !linux

package controlplane

import "syscall"

// endWithParent has no means here: Stop alone ends the processes.
func endWithParent() *syscall.SysProcAttr {
	return nil
}
