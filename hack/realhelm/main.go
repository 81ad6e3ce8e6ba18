// Command realhelm prints where a helm of the given major version is, building it
// from tools/ when that was not done before: go run ./hack/realhelm 3
package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/helm-checksum/helm-checksum/internal/realhelm"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: realhelm 3|4...")
		os.Exit(2)
	}
	for _, arg := range os.Args[1:] {
		major, err := strconv.Atoi(arg)
		if err == nil {
			var path string
			if path, err = realhelm.Path(major); err == nil {
				fmt.Println(path)
				continue
			}
		}
		fmt.Fprintf(os.Stderr, "realhelm: %v\n", err)
		os.Exit(1)
	}
}
