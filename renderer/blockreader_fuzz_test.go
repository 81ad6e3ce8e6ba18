package renderer

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

// maxSeed keeps the real streams that seed the fuzzing to a size that it can still
// do something with.
const maxSeed = 6 << 10

// addCorpus seeds with documents of real charts, where they are to be had.
func addCorpus(f *testing.F, add func(doc []byte)) {
	k, err := newKinds(nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, stream := range corpus(f) {
		s := splitter{stream: stream}
		for d, ok := s.next(); ok; d, ok = s.next() {
			if d.end-d.start <= maxSeed && k.matters(&d, stream) {
				add(stream[d.start:d.end])
			}
		}
	}
}

// FuzzBlockReader: what the block reader takes means what the library says it
// means, and stands where it is said to stand.
func FuzzBlockReader(f *testing.F) {
	for _, c := range blockCases {
		f.Add([]byte(c.doc))
	}
	f.Add([]byte("kind: ConfigMap\nmetadata:\n  name: a\n  annotations: {b: c}\ndata:\n  d: |\n    e\n"))
	f.Add([]byte("metadata:\n# a\n\n  name: 'a'\n  labels:\n    b: \"c\"\n---\nkind: Secret\nmetadata:\n    name: >-\n      a\n      b"))
	addCorpus(f, func(doc []byte) { f.Add(doc) })
	f.Fuzz(func(t *testing.T, src []byte) {
		checkBlockReader(t, src)
		checkReadHead(t, src)
	})
}

// FuzzScalar: a plain scalar of which the kind is certain is of that kind to the
// library, and has that JSON text.
func FuzzScalar(f *testing.F) {
	for _, s := range []string{
		"", "a", "~", "null", "Null", "nUll", "y", "Yes", "TRUE", "tRUE", "off", "offs", "<<", "<<<",
		"0", "-0", "+0", "1", "-1", "+1", "00", "007", "-017", "08", "1_0", "_1", "0_7", "0x", "0x1", "0xg", "-0x1f", "0X_1", "0b1", "0b2", "0b", "-0b1", "+0b1", "0b+1", "0b-1", "-0b+1", "0b_-_1", "0b--1", "0x+1", "0o-1", "1e_+1", "0o7", "0o8", "0x1p4",
		"999999999999999999", "9223372036854775807", "9223372036854775808", "18446744073709551616", "0777777777777777777777",
		".", "..", "1.", ".1", "1.0", "1.50", "-1.5", "-0.5", "00.5", "0.000001", "0.0000001", "0.0000000", "123456789.123456", "1234567890.123456", "1.2.3", "1..2", "1._5", "1.5_",
		"1e3", "1E-3", "1e", "1e+", "e1", "-e", ".e1", "1.e1", "1e1.5", "1e400", "30a482963a7489", "580e1", "580e1a",
		".inf", "-.Inf", "+.INF", ".nan", ".NaN", ".info", "-.info", "._inf", "infinity", "-", "--", "-a", "+", "+a", "1-2", "1:2", "190:20:30", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43", "12 34", "1 ", "1,000", "5Gi", "100m",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := []byte(s)
		if !utf8.Valid(b) || !plainBytes(b) || bytes.ContainsAny(b, "\n\x00") || len(b) > 0 && (b[0] == ' ' || !plainStart(b)) {
			return
		}
		if part, _, ok := plainLine(b); len(b) > 0 && (!ok || !bytes.Equal(part, b)) {
			return
		}
		if bytes.HasPrefix(b, []byte("- ")) || string(b) == "-" {
			return // no scalar, but an item
		}
		got := newTree(2)
		if !got.nodes[root].setPlain(b) {
			return
		}
		list, err := readValues(append([]byte("- "), b...))
		if err != nil {
			t.Fatalf("certain, but the library says of %q: %v", s, err)
		}
		if diff := sameMeaning(got, root, list, list.nodes[root].first); diff != "" {
			t.Errorf("%q%s", s, diff)
		}
	})
}
