package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// prefix begins the names of the servers' folders.
const prefix = "prescient-server-"

// errSwept is why a new folder is not this server's: another process took it for one that a dead process left, in the moment
// before it was locked.
var errSwept = errors.New("the folder was swept away")

// A Folder is a server's own, with all that it writes. The zero Folder is none.
type Folder struct {
	Path   string
	unlock func() // lets others remove it
}

// Make makes a folder in the parent, or in the system's temporary folder where that is empty. What it made before it
// failed is in the Folder that it returns.
func Make(parent string) (Folder, error) {
	Sweep(os.TempDir())
	for {
		path, err := os.MkdirTemp(parent, prefix)
		if err != nil {
			return Folder{}, fmt.Errorf("making a folder: %w", err)
		}
		if path, err = filepath.Abs(path); err != nil {
			return Folder{}, fmt.Errorf("making a folder: %w", err)
		}
		unlock, err := lockFolder(path)
		if errors.Is(err, errSwept) {
			continue
		}
		made := Folder{Path: path, unlock: unlock}
		if err != nil {
			return made, fmt.Errorf("locking the folder: %w", err)
		}
		if err := os.Mkdir(made.Files(), 0o700); err != nil {
			return made, fmt.Errorf("making a folder: %w", err)
		}
		return made, nil
	}
}

// Data is the folder with the server's data, which Make leaves to others.
func (f Folder) Data() string { return filepath.Join(f.Path, "data") }

// Files is the only folder that statements may read files from and write files to.
func (f Folder) Files() string { return filepath.Join(f.Path, "files") }

// Log is the server's error log.
func (f Folder) Log() string { return filepath.Join(f.Path, "error.log") }

// Pid is the file with the id of the server's process.
func (f Folder) Pid() string { return filepath.Join(f.Path, "server.pid") }

// longestSocket is the longest path that a unix socket may have everywhere.
const longestSocket = 100

// Socket is the server's socket. In a folder whose path is too long for a socket it is one below the server's own, the
// data folder, and a relative path.
func (f Folder) Socket() string {
	if path := f.socket(); len(path) <= longestSocket {
		return path
	}
	return "s.sock"
}

func (f Folder) socket() string { return filepath.Join(f.Path, "s.sock") }

// RemoveStale removes what names an earlier process: the lock beside the socket has a process id that somebody else may
// have by now, and the server would take it for a rival.
func (f Folder) RemoveStale() {
	for _, stale := range []string{f.socket(), f.socket() + ".lock", filepath.Join(f.Data(), "s.sock.lock"), f.Pid()} {
		os.Remove(stale)
	}
}

// Remove removes the folder with all that is in it.
func (f Folder) Remove() error {
	if f.Path == "" {
		return nil
	}
	if f.unlock != nil {
		defer f.unlock()
	}
	if err := os.RemoveAll(f.Path); err != nil {
		return fmt.Errorf("removing the server's folder: %w", err)
	}
	return nil
}
