package renderer

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
)

// allKeys stands in a list of keys for every key of the object.
const allKeys = "*"

// A checksummer computes checksums by CONTRACT.md section 4:
//
//	checksum = lowercase hex SHA-256(M), or HMAC-SHA-256(key, M)
//	M        = "helm-checksum v1\n" + KIND + "\n" + entries
//	entry    = frame(key) + 0x00                  the object has no such key
//	         | frame(key) + 0x01 + frame(value)   it has
//	frame(b) = length of b as 8 bytes, big-endian, + b
type checksummer struct {
	hash  hash.Hash
	frame [9]byte
	sum   [sha256.Size]byte
	chunk []byte // of a literal's text
}

// chunkSize is small enough for a processor's cache, and much for a hash.
const chunkSize = 16 << 10

func newChecksummer(hmacKey []byte) *checksummer {
	if len(hmacKey) > 0 {
		return &checksummer{hash: hmac.New(sha256.New, hmacKey)}
	}
	return &checksummer{hash: sha256.New()}
}

func (c *checksummer) begin(kind string) {
	c.hash.Reset()
	c.hash.Write([]byte("helm-checksum v1\n" + kind + "\n"))
}

func (c *checksummer) write(prefix []byte, b []byte) {
	c.hash.Write(binary.BigEndian.AppendUint64(prefix, uint64(len(b))))
	c.hash.Write(b)
}

// absent adds a key that the object does not have.
func (c *checksummer) absent(key []byte) {
	c.write(c.frame[:0], key)
	c.hash.Write([]byte{0})
}

// present adds a key and its value.
func (c *checksummer) present(key, value []byte) {
	c.write(c.frame[:0], key)
	c.write(append(c.frame[:0], 1), value)
}

// entry adds a key of a config object. The text of a literal, which is most of what
// most config objects hold, goes to the hash line by line, nowhere held whole.
func (c *checksummer) entry(e *entry) {
	if !e.value.isLiteral() || e.codec != plainText {
		value, _ := e.decode()
		c.present(e.key, value)
		return
	}
	size := 0
	for line := range literalLines(&e.value) {
		size += len(line)
	}
	c.write(c.frame[:0], e.key)
	c.hash.Write(binary.BigEndian.AppendUint64(append(c.frame[:0], 1), uint64(size)))
	if c.chunk == nil {
		c.chunk = make([]byte, 0, chunkSize)
	}
	for line := range literalLines(&e.value) {
		if len(c.chunk)+len(line) > chunkSize {
			c.hash.Write(c.chunk)
			c.chunk = c.chunk[:0]
			if len(line) > chunkSize {
				c.hash.Write(line)
				continue
			}
		}
		c.chunk = append(c.chunk, line...)
	}
	c.hash.Write(c.chunk)
	c.chunk = c.chunk[:0]
}

func (c *checksummer) hex() string { return hex.EncodeToString(c.hash.Sum(c.sum[:0])) }

// Checksum returns the checksum of keys of a config object: 64 lowercase hex
// digits. The kind is ConfigMap or Secret; content holds the decoded values; keys
// is ["*"] for all of them, and may name keys that the object lacks. With an
// hmacKey the checksum is keyed. The rule is CONTRACT.md section 4.
func Checksum(kind string, content map[string][]byte, keys []string, hmacKey []byte) string {
	if slices.Contains(keys, allKeys) {
		keys = keys[:0:0]
		for key := range content {
			keys = append(keys, key)
		}
	}
	keys = slices.Clone(keys)
	slices.Sort(keys)
	c := newChecksummer(hmacKey)
	c.begin(kind)
	for _, key := range slices.Compact(keys) {
		if value, ok := content[key]; ok {
			c.present([]byte(key), value)
		} else {
			c.absent([]byte(key))
		}
	}
	return c.hex()
}

// An annotation's name part may have 63 characters
// (https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/).
const (
	maxNamePart  = 63
	keptNamePart = 52
	tagDigits    = 10
)

// AnnotationKey returns the key of the stamp for a ConfigMap or Secret.
// otherNamespace is the object's namespace when it is not the workload's, else
// empty. The rule is CONTRACT.md section 5.
func AnnotationKey(kind, name, otherNamespace string) string {
	prefix := stampConfigMap
	if kind == secretKind {
		prefix = stampSecret
	}
	key := prefix + name
	part := []rune(key[len(annotationPrefix):])
	if len(part) <= maxNamePart && otherNamespace == "" {
		return key
	}
	tag := sha256.Sum256([]byte(otherNamespace + "/" + name))
	return annotationPrefix + string(part[:min(len(part), keptNamePart)]) + "-" + hex.EncodeToString(tag[:])[:tagDigits]
}
