package checks

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"prescient/cmd/internal/input"
)

// rereadable opens a file that is to be read twice. What can be read only once is copied to a temporary file first, so
// that no transaction waits for input.
func rereadable(ctx context.Context, name string, stdin io.Reader) (file *os.File, closing func(), err error) {
	if name == "-" {
		return spooled(ctx, stdin)
	}
	if file, err = input.Open(ctx, name); err != nil {
		return nil, nil, err
	}
	closing = func() { _ = file.Close() }
	info, err := file.Stat()
	switch {
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a directory", filepath.ToSlash(name))
	case err == nil && info.Mode().IsRegular():
		return file, closing, nil
	case err == nil:
		defer closing()
		return spooled(ctx, file)
	}
	closing()
	return nil, nil, err
}

// spool copies what it reads to a temporary file. That has no name any more when the first byte is written to it: however
// the process ends, nothing is left.
func spooled(ctx context.Context, from io.Reader) (file *os.File, closing func(), err error) {
	if file, err = os.CreateTemp("", "prescient-insert-*"); err != nil {
		return nil, nil, err
	}
	kept := os.Remove(file.Name()) != nil // on systems that do not remove what is open
	closing = func() {
		_ = file.Close()
		if kept {
			_ = os.Remove(file.Name())
		}
	}
	if _, err := io.Copy(file, input.Interruptible(ctx, from)); err != nil {
		closing()
		return nil, nil, err
	}
	return file, closing, nil
}
