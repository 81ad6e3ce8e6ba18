package genstream

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteIsRepeatable(t *testing.T) {
	for _, shape := range Shapes() {
		var sums []string
		for _, seed := range []uint64{1, 1, 2} {
			var b bytes.Buffer
			if err := Write(&b, shape, 300_000, seed); err != nil {
				t.Fatal(err)
			}
			if b.Len() < 290_000 || b.Len() > 450_000 {
				t.Errorf("%s: %d bytes", shape, b.Len())
			}
			if n := strings.Count(b.String(), "kind: Deployment\n"); n == 0 {
				t.Errorf("%s: no workload", shape)
			}
			sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(b.Bytes())))
		}
		if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
			t.Errorf("%s: the same seed gives another stream:\n%s", shape, diff)
		}
		if sums[0] == sums[2] {
			t.Errorf("%s: another seed gives the same stream", shape)
		}
	}
}

func TestWriteRefusesUnknownShapes(t *testing.T) {
	if err := Write(new(bytes.Buffer), "round", 1000, 1); err == nil || !strings.Contains(err.Error(), `unknown shape "round"`) {
		t.Errorf("got %v", err)
	}
}

func TestHostileStreamsHaveTheirSize(t *testing.T) {
	for _, h := range HostileStreams() {
		for _, size := range []int{50_000, 100_000} {
			if got := len(h.Make(size)); got < size*9/10 || got > size*11/10+1000 {
				t.Errorf("%s: %d bytes, want about %d", h.Name, got, size)
			}
		}
	}
}
