package helmrelease

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteFile replaces a file by content in one step, so that nobody sees half of it,
// and keeps its mode. A new file gets mode 0644. A symbolic link stays one: what it points to is replaced.
func WriteFile(path string, content []byte) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("%s: a new file can't be made beside it: %w", path, err)
	}
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("%s: it can't be replaced: %w", path, err)
	}
	return nil
}
