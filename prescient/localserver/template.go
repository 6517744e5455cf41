package localserver

import (
	"os"
	"path/filepath"
	"regexp"

	"prescient/prescient/localserver/internal/folder"
)

var unfitForNames = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// template returns where a fresh data folder of this server version is kept in
// the user's cache, "" for a server that needs one of its own kind.
func (i installation) template() string {
	if len(i.lastingArgs()) > 0 {
		return ""
	}
	name := string(i.program.Flavour) + "-" + unfitForNames.ReplaceAllString(i.program.Version, "_")
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
	if err := folder.CopyData(fresh, data); err != nil {
		return
	}
	os.Rename(fresh, template) // fails when another one was quicker
}
