package controlplane

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// A process is one program of the control plane.
type process struct {
	name      string
	arguments []string
	log       string
	cmd       *exec.Cmd
	done      chan struct{} // closed when it has ended
}

// grace is how long a process may take to end by itself. Nothing that it holds is kept:
// the API server alone would take a minute to say goodbye to its clients.
const grace = 2 * time.Second

// stop ends the process, by its own handle, and waits until it is gone.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// tail is the end of the process's log.
func (p *process) tail() string {
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-20):], []byte("\n")))
}

// A launcher starts processes from one thread that lives as long as they: on Linux
// the kernel ends them when that thread is gone, so they never outlive a test
// that crashed or was killed.
type launcher struct {
	calls chan func()
}

func newLauncher() *launcher {
	l := &launcher{calls: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for call := range l.calls {
			call()
		}
	}()
	return l
}

func (l *launcher) close() {
	if l.calls != nil {
		close(l.calls)
		l.calls = nil
	}
}

// start starts the program name of the binary; its output is appended to the file log.
func (l *launcher) start(name, binary string, arguments []string, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{
		name:      name,
		arguments: arguments,
		log:       log,
		cmd:       exec.Command(binary, append([]string{name}, arguments...)...),
		done:      make(chan struct{}),
	}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = endWithParent()
	started := make(chan error)
	l.calls <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended does not matter, its log tells
		close(p.done)
	}()
	return p, nil
}
