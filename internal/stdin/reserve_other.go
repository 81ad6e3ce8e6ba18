//go:build !linux

package stdin

// reserve returns nil: the buffer grows by doubling.
func reserve() []byte { return nil }
