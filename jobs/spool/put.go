package spool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"prescient/prescient"
)

// Placed is a file that Put has written.
type Placed struct {
	Path string    `json:"path"`
	Slot time.Time `json:"slot"`
}

// Put has a command executed at a time, rounded up to a slot; one that is over goes to the next slot. It is executed by /bin/sh in the folder in which
// the caller is, each argument as it is. The file is there whole, or not at all. The error wraps prescient.ErrInvalid,
// prescient.ErrBeyondHorizon or ErrUnsafe.
func Put(o Options, due time.Time, argv []string) (p Placed, err error) {
	if err := o.complete(); err != nil {
		return p, err
	}
	script, err := scriptOf(argv)
	if err != nil {
		return p, err
	}
	now := o.Now().UTC()
	_, p.Slot, err = prescient.Place(o.Grid, o.Guards.Ahead(), "spool", due, now)
	if err != nil {
		return p, err
	}
	if err := ready(o.Dir); err != nil {
		return p, err
	}
	name := now.Format("20060102T150405.000000") + "-" + plain(filepath.Base(argv[0])) + "-" + rand.Text()[:8]
	from := filepath.Join(o.Dir, incoming, name)
	if err := write(from, []byte(script), 0o700); err != nil {
		return p, err
	}
	folder := filepath.Join(o.Dir, folderOf(p.Slot))
	p.Path = filepath.Join(folder, name)
	for tries := 0; ; tries++ {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return p, errors.Join(err, os.Remove(from))
		}
		err := ownAlone(folder, 0o022)
		if err == nil {
			err = rename(from, p.Path)
		}
		if err == nil {
			return p, errors.Join(flush(folder), flush(o.Dir))
		}
		if !errors.Is(err, fs.ErrNotExist) || tries == 10 { // who runs what is due may have removed the folder, since it was empty
			return p, errors.Join(err, os.Remove(from))
		}
	}
}

// scriptOf is the script that executes a command as it is given.
func scriptOf(argv []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", fmt.Errorf("%w: the command is empty", prescient.ErrInvalid)
	}
	var words []string
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return "", fmt.Errorf("%w: argument %.80q has a NUL byte, which no argument can have", prescient.ErrInvalid, arg)
		}
		words = append(words, quote(arg))
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("asking for the folder to execute it in: %w", err)
	}
	return "#!/bin/sh\ncd " + quote(dir) + " && exec " + strings.Join(words, " ") + "\n", nil
}

// quote is a word of the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// plain is the name of a program with nothing in it that file names had better not have.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 60)]
}

// write makes a file that is on the disk when it returns.
func write(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil { // whatever the umask says
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// flush has the names in a folder be on the disk.
func flush(folder string) error {
	f, err := os.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // what was put there was executed since
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
