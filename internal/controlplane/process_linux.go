package controlplane

import "syscall"

// endWithParent has the kernel kill a process when the thread that started it ends. A
// group of its own keeps an interrupt from the terminal away, which is for the tests
// to handle.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
