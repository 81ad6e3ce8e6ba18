// Command gen writes a made-up stream of rendered manifests to stdout:
// gen SHAPE MEGABYTES [SEED]. The same arguments give the same bytes.
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
)

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fmt.Fprintf(os.Stderr, "usage: gen SHAPE MEGABYTES [SEED], where SHAPE is one of %v\n", genstream.Shapes())
		os.Exit(2)
	}
	if err := gen(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(2)
	}
}

func gen(args []string) error {
	size, err := strconv.ParseFloat(args[1], 64)
	if err != nil {
		return err
	}
	seed := uint64(1)
	if len(args) > 2 {
		if seed, err = strconv.ParseUint(args[2], 10, 64); err != nil {
			return err
		}
	}
	return genstream.Write(os.Stdout, genstream.Shape(args[0]), int(size*1e6), seed)
}
