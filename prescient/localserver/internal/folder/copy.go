package folder

import (
	"io"
	"os"
	"path/filepath"
)

// CopyData copies a data folder, but for the file with the server's identity,
// which each server has for itself.
func CopyData(to, from string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.Mkdir(target, 0o700)
		case !entry.Type().IsRegular() || relative == "auto.cnf":
			return nil
		default:
			return copyFile(target, path)
		}
	})
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}
