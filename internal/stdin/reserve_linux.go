package stdin

import "golang.org/x/sys/unix"

// reserved is an address range, not memory: pages come as they are written to. An
// input that is larger is copied once more.
const reserved = 1 << 32

// reserve returns an empty buffer in a range of its own, of huge pages where the
// system has them, nil where it gives none (a limit on the address space).
func reserve() []byte {
	b, err := unix.Mmap(-1, 0, reserved, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // a matter of speed alone
	return b[:0]
}
