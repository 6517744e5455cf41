package migrate

import (
	"io/fs"
	"regexp"
	"slices"
)

var prefixed = regexp.MustCompile(`\{prefix\}(\w+)`)

// EverMade returns the names, with the prefix, of all tables, views and procedures that a migration makes or ever made, and of what else
// belongs to them: a server keeps the rights on a table that a later migration drops or renames.
func EverMade(prefix string) (names []string, err error) {
	names = []string{prefix + "schema_version", prefix + "schema_lock"}
	err = fs.WalkDir(ownFiles, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(ownFiles, path)
		for _, found := range prefixed.FindAllStringSubmatch(string(file), -1) {
			names = append(names, prefix+found[1])
		}
		return err
	})
	slices.Sort(names)
	return slices.Compact(names), err
}
