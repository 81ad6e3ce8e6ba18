package main

import (
	"fmt"
	"os"
	"sync"

	"golang.org/x/term"
)

// A progress is a line on a terminal that says how far a run is; nothing in a pipe.
type progress struct {
	w     *os.File // nil: not shown
	total int

	mu   sync.Mutex
	done int
}

func newProgress(w *os.File, total int) *progress {
	if total < 2 || !term.IsTerminal(int(w.Fd())) {
		w = nil
	}
	p := &progress{w: w, total: total}
	p.show()
	return p
}

// step counts one release.
func (p *progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.show()
}

func (p *progress) show() {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\x1b[Krendering %d/%d", p.done, p.total)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
