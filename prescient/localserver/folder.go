package localserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// folderPrefix begins the names of the servers' folders.
const folderPrefix = "prescient-server-"

// errSwept is why a new folder is not this server's: another process took it for one that a dead process left, in the moment
// before it was locked.
var errSwept = errors.New("the folder was swept away")

// makeFolder makes the server's folder.
func (s *Server) makeFolder() error {
	sweep(os.TempDir())
	for {
		dir, err := os.MkdirTemp(s.options.Parent, folderPrefix)
		if err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		if dir, err = filepath.Abs(dir); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
		unlock, err := lockFolder(dir)
		if errors.Is(err, errSwept) {
			continue
		}
		s.dir, s.unlock = dir, unlock
		if err != nil {
			return fmt.Errorf("locking the folder: %w", err)
		}
		break
	}
	if err := os.Mkdir(s.filesDir(), 0o700); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	return nil
}

// remove removes all that Start made.
func (s *Server) remove() error {
	if s.dir == "" {
		return nil
	}
	if s.unlock != nil {
		defer s.unlock()
	}
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("localserver: removing the server's folder: %w", err)
	}
	return nil
}
