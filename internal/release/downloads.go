package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"helm.sh/helm/v4/pkg/cli"
)

// downloads gets each thing once, however many releases want it, and keeps what has a
// known digest on disk for later runs.
type downloads struct {
	options  Options
	settings *cli.EnvSettings // where Helm keeps its credentials and repositories

	mu   sync.Mutex
	memo map[string]*memo

	logging sync.Mutex
}

type memo struct {
	once    sync.Once
	content []byte
	err     error
}

func newDownloads(o Options) *downloads {
	return &downloads{options: o, settings: cli.New(), memo: map[string]*memo{}}
}

// once calls get for a key at most once, and returns its result each time.
func (d *downloads) once(key string, get func() ([]byte, error)) ([]byte, error) {
	d.mu.Lock()
	m, ok := d.memo[key]
	if !ok {
		m = &memo{}
		d.memo[key] = m
	}
	d.mu.Unlock()
	m.once.Do(func() { m.content, m.err = get() })
	return m.content, m.err
}

// verified returns content with a SHA-256 digest, in hex, from the cache or else from get,
// whose result is checked and kept. What the cache has is checked too.
func (d *downloads) verified(digest, what string, get func() ([]byte, error)) ([]byte, error) {
	digest = strings.TrimPrefix(digest, "sha256:")
	file := ""
	if dir, err := d.cacheDir(); err == nil && isSHA256(digest) {
		file = filepath.Join(dir, digest+".tgz")
		if content, err := os.ReadFile(file); err == nil && sha256Hex(content) == digest {
			return content, nil
		}
	}
	content, err := get()
	if err != nil {
		return nil, err
	}
	if got := sha256Hex(content); digest != "" && got != digest {
		return nil, fmt.Errorf("%s has the SHA-256 digest %s, but is to have %s: the download or the index is not what was published", what, got, digest)
	}
	d.logf("downloaded %s", what)
	if file != "" {
		if err := writeAtomically(file, content); err != nil {
			d.logf("%s is not cached: %v", what, err)
		}
	}
	return content, nil
}

func (d *downloads) cacheDir() (string, error) {
	if d.options.CacheDir != "" {
		return d.options.CacheDir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "helm-checksum"), nil
}

func writeAtomically(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "download-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

func sha256Hex(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func isSHA256(digest string) bool {
	b, err := hex.DecodeString(digest)
	return err == nil && len(b) == sha256.Size
}

// logf writes one line to the log.
func (d *downloads) logf(format string, args ...any) {
	if d.options.Log == nil {
		return
	}
	d.logging.Lock()
	defer d.logging.Unlock()
	fmt.Fprintf(d.options.Log, format+"\n", args...)
}
