package renderer

import "strings"

// Names makes the strings that are taken from a stream or written into it, which are many
// and short, out of few pieces of memory.
type names struct {
	chunk strings.Builder
}

const (
	namesChunk = 8 << 10
	longName   = namesChunk / 8 // and above: a string of its own
)

// of returns bytes as a string.
func (s *names) of(b []byte) string {
	if len(b) == 0 || len(b) > longName {
		return string(b)
	}
	from := s.room(len(b))
	s.chunk.Write(b)
	return s.chunk.String()[from:]
}

// join returns strings as one.
func (s *names) join(parts ...string) string {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > longName {
		return strings.Join(parts, "")
	}
	from := s.room(size)
	for _, part := range parts {
		s.chunk.WriteString(part)
	}
	return s.chunk.String()[from:]
}

// room makes room for a string and returns where it begins. What stands in a builder
// never moves: there is no growing.
func (s *names) room(size int) (from int) {
	if s.chunk.Cap()-s.chunk.Len() < size {
		s.chunk = strings.Builder{}
		s.chunk.Grow(namesChunk)
	}
	return s.chunk.Len()
}
