package sql

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Read returns a file as it is in the dialect. A line that ends in "-- only full" or "-- only plain" is left out in the other one, and one that
// ends in "-- only vitess" but for Vitess, which is to be told where rows lie; one that ends in "-- only plain vitess" is for both at once. In the
// place of a line "-- +file procedures/parts/begin.sql" stands that file, of which a line that ends in "-- only cancel" is for cancel.sql alone.
func (d Dialect) Read(files fs.FS, name string) (string, error) {
	if d != Plain {
		d = Full
	}
	return d.readFor("", false, files, name)
}

// readFor reads a file as that one has it which names it; placed is for Vitess.
func (d Dialect) readFor(reader string, placed bool, files fs.FS, name string) (string, error) {
	file, err := fs.ReadFile(files, name)
	if err != nil {
		return "", err
	}
	var whole strings.Builder
	for line := range strings.Lines(string(file)) {
		line, whose, marked := strings.Cut(strings.TrimSuffix(line, "\n"), "-- only ")
		of := func(word string) bool { return word == string(d) || word == reader || placed && word == "vitess" }
		if marked && slices.ContainsFunc(strings.Fields(whose), func(word string) bool { return !of(word) }) {
			continue
		}
		line = strings.TrimRight(line, " ")
		indent, other, named := strings.Cut(line, "-- +file ")
		if !named {
			whole.WriteString(line + "\n")
			continue
		}
		part, err := d.readFor(strings.TrimSuffix(path.Base(name), ".sql"), placed, files, other)
		if err != nil {
			return "", err
		}
		for line := range strings.Lines(part) {
			whole.WriteString(indent + line)
		}
	}
	return whole.String(), nil
}
