//go:build unix

// Command run runs a program once, as Helm runs a post-renderer: pipes at both ends.
//
//	run FILE PROGRAM [ARG...]
//
// It feeds the file to the program's stdin, drops its stdout, and prints the CPU time,
// user and system, in nanoseconds, and the peak memory in bytes.
//
// It is a program of its own because the kernel counts what the parent holds at the
// time of exec as the child's peak memory: so this parent holds next to nothing.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: run FILE PROGRAM [ARG...]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(file string, command []string) error {
	program, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	stdin, feed, err := os.Pipe()
	if err != nil {
		return err
	}
	drain, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	p, err := os.StartProcess(program, command, &os.ProcAttr{Files: []*os.File{stdin, stdout, os.Stderr}})
	if err != nil {
		return err
	}
	stdin.Close()
	stdout.Close()
	fed := make(chan error, 1)
	go func() {
		// Neither end is an *os.File to io.CopyBuffer: the kernel is not to move pages
		// past the program's reads.
		_, err := io.CopyBuffer(struct{ io.Writer }{feed}, struct{ io.Reader }{in}, make([]byte, 64<<10))
		feed.Close()
		fed <- err
	}()
	if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{drain}, make([]byte, 64<<10)); err != nil {
		return err
	}
	state, err := p.Wait()
	if err != nil {
		return err
	}
	if err := <-fed; err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	if !state.Success() {
		return fmt.Errorf("%s: %s", command[0], state)
	}
	usage := state.SysUsage().(*syscall.Rusage)
	peak := int64(usage.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		peak <<= 10 // kilobytes elsewhere
	}
	fmt.Println((state.UserTime() + state.SystemTime()).Nanoseconds(), peak)
	return nil
}
