// Command compare measures helm-checksum against what else could be done with the
// same bytes, prints tables, and with -write puts them and a plot into docs/performance.md.
//
//	cd bench && go run ./compare [-quick] [-write]
//
// Every program runs once a round, the rounds follow each other, and what is compared
// is the median over the rounds of CPU time, user and system, as the kernel counts it
// for the process. It prints the budgets with pass or fail; a missed one is exit 1.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	quick := flag.Bool("quick", false, "few rounds below 10 MB, no 100 MB: minutes become seconds")
	write := flag.Bool("write", false, "write the tables and the plot of docs/performance.md")
	flag.Parse()
	missed, err := compare(*quick, *write)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if missed > 0 {
		os.Exit(1)
	}
}

func compare(quick, write bool) (missed int, err error) {
	root, err := goList("list", "-m", "-f", "{{.Dir}}", "github.com/helm-checksum/helm-checksum")
	if err != nil {
		return 0, err
	}
	if err := os.Chdir(root); err != nil {
		return 0, err
	}
	work, err := os.MkdirTemp("", "helm-checksum-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)

	p, err := buildPrograms(work)
	if err != nil {
		return 0, err
	}
	inputs, notes, err := gather(work, p, quick)
	if err != nil {
		return 0, err
	}
	r := &results{notes: notes}
	for _, in := range inputs {
		fmt.Fprintf(os.Stderr, "measuring %s: %d rounds\n", in.title, in.rounds)
		m, err := p.measure(in)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", in.title, err)
		}
		r.inputs = append(r.inputs, m)
	}
	verdicts := judge(r)
	for _, v := range verdicts {
		if !v.holds {
			missed++
		}
	}
	text := tables(r, verdicts)
	fmt.Print(text)
	if write {
		if err := replaceBetweenMarkers(filepath.Join("docs", "performance.md"), text); err != nil {
			return missed, err
		}
		err = plotTo(filepath.Join("docs", "performance.svg"), r)
	}
	return missed, err
}

func goList(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

const (
	beginMarker = "<!-- measured: written by make bench -->"
	endMarker   = "<!-- /measured -->"
)

// replaceBetweenMarkers replaces the measured part of a page that people wrote.
func replaceBetweenMarkers(file, text string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(b), beginMarker)
	_, after, closed := strings.Cut(rest, endMarker)
	if !ok || !closed {
		return errors.New(file + ": the markers of the measured part are missing: want the lines " + beginMarker + " and " + endMarker)
	}
	return os.WriteFile(file, []byte(before+beginMarker+"\n\n"+text+"\n"+endMarker+after), 0o644)
}
