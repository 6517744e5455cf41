package localserver

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
)

var unfitForNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// template returns where a fresh data folder of this server version is kept in
// the user's cache, "" for a server that needs one of its own kind.
func (s *Server) template() string {
	if len(s.lastingArgs()) > 0 {
		return ""
	}
	name := string(s.program.Flavour) + "-" + unfitForNames.ReplaceAllString(s.program.Version, "_")
	return filepath.Join(CacheDir(), "templates", name)
}

// keepTemplate keeps a copy of a fresh data folder. It comes into its place at
// once and whole, so that several processes may do this at the same time; a
// cache that cannot be written costs time and is no error.
func keepTemplate(template, data string) {
	parent := filepath.Dir(template)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return
	}
	temporary, err := os.MkdirTemp(parent, "new-")
	if err != nil {
		return
	}
	defer os.RemoveAll(temporary)
	fresh := filepath.Join(temporary, "data")
	if err := copyFolder(fresh, data); err != nil {
		return
	}
	os.Rename(fresh, template) // fails when another one was quicker
}

// copyFolder copies a data folder, but for the file with the server's identity,
// which each server has for itself.
func copyFolder(to, from string) error {
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
