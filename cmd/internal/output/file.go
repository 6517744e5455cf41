package output

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File writes a text to a file, at once and whole: whoever reads the file meanwhile, and a full disk, find what was there before. A new file can
// be read by all, as far as the umask allows; one that is there keeps its mode. Of a link it is the file behind it that is written anew; what is
// no file, as /dev/stdout, gets the text as it comes.
func File(path, text string) error {
	mode := fs.FileMode(0o644)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // of a link to nothing the link is replaced
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return os.WriteFile(path, []byte(text), mode)
	default:
		mode = info.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	// Neither systemd nor Prometheus takes a name that begins with a point and has no such end.
	fresh := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text())
	to, err := os.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		var at *fs.PathError
		if errors.As(err, &at) {
			return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
		}
		return err
	}
	_, err = to.WriteString(text)
	if err == nil && info != nil {
		err = to.Chmod(mode) // the umask may have taken some of it
	}
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(fresh))
	}
	return nil
}
