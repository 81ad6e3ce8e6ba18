package renderer_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/helm-checksum/helm-checksum/internal/genstream"
	"github.com/helm-checksum/helm-checksum/renderer"
)

// BenchmarkStamp stamps and writes streams of every shape, and the hostile ones, among
// them what costs most per byte: compare their MB/s.
func BenchmarkStamp(b *testing.B) {
	for _, shape := range genstream.Shapes() {
		b.Run(string(shape), func(b *testing.B) { benchmarkStamp(b, generated(b, shape, 1_000_000)) })
	}
	for _, h := range genstream.HostileStreams() {
		b.Run("hostile-"+h.Name, func(b *testing.B) { benchmarkStamp(b, h.Make(200_000)) })
	}
}

func benchmarkStamp(b *testing.B, stream []byte) {
	r := newRenderer(b, renderer.Options{})
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		stampAndWrite(b, r, stream)
	}
}

func generated(t testing.TB, shape genstream.Shape, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := genstream.Write(&b, shape, size, 1); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func stampAndWrite(t testing.TB, r *renderer.Renderer, stream []byte) {
	stamped, err := r.Stamp(stream)
	if err != nil {
		t.Fatalf("%.500s", err)
	}
	if _, err := stamped.WriteTo(io.Discard); err != nil {
		t.Fatal(err)
	}
}
