package migrate

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"

	text "prescient/sql"
)

// Set is a set of migrations: those in the folder migrations of its files, of which the first is the baseline, and the version that the
// tables have after the last.
type Set struct {
	Files   fs.FS
	Version int64
}

//go:embed migrations/*.sql tables/*.sql views/*.sql procedures/*.sql views/parts/*.sql procedures/parts/*.sql
var ownFiles embed.FS

// Newest returns the migrations of this program.
func Newest() Set { return Set{Files: ownFiles, Version: text.SchemaVersion} }

// files are those of the set.
func (s Schema) files() fs.FS {
	if s.Set == nil {
		return ownFiles
	}
	return s.Set.Files
}

// version is that of the tables after the last migration of the set.
func (s Schema) version() int64 {
	if s.Set == nil {
		return text.SchemaVersion
	}
	return s.Set.Version
}

// names returns the names of the migrations, in their order.
func (s Schema) names() (names []string, err error) {
	paths, err := fs.Glob(s.files(), "migrations/*.sql")
	switch {
	case err != nil:
		return nil, err
	case len(paths) == 0:
		return nil, errors.New("there are no migrations")
	}
	for _, name := range paths {
		names = append(names, path.Base(name))
	}
	slices.Sort(names)
	return names, nil
}

var (
	// checks are the CHECKs of a table, which come last in it. The dialect plain has none.
	checks = regexp.MustCompile(`(?s),\n  CONSTRAINT .*?\n\)`)
	// procedures are the statements that make one.
	procedures = regexp.MustCompile(`(?s)-- \+goose StatementBegin\nCREATE PROCEDURE .*?-- \+goose StatementEnd\n`)
	makes      = regexp.MustCompile(`(?m)^CREATE .*?(TABLE|VIEW|PROCEDURE) (?:IF NOT EXISTS )?(\w+)`)
)

// migration returns a migration as it is sent, with the comments that stand in it. In the place of its line "-- +drop" is what drops all that
// it makes.
func (s Schema) migration(name string) (string, error) {
	whole, err := s.Dialect.Read(s.files(), "migrations/"+name)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	if s.Dialect == text.Plain {
		whole = checks.ReplaceAllString(whole, "\n)")
	}
	if s.withoutProcedures() != "" {
		whole = procedures.ReplaceAllString(whole, "")
	}
	seconds := int64(s.Resolution / time.Second)
	whole = strings.NewReplacer("{installation}", text.InstallationStream, "{unseen}", unseen,
		"{prefix}", s.Prefix, "{seconds}", strconv.FormatInt(seconds, 10), "{micros}", strconv.FormatInt(seconds*1e6, 10)).Replace(whole)
	return strings.Replace(whole, "-- +drop\n", drops(whole), 1), nil
}

// withoutProcedures is the server where that makes none: Vitess does not parse them.
func (s Schema) withoutProcedures() text.Server {
	if s.Server == text.VitessShard {
		return s.Server
	}
	return ""
}

// drops are the statements for that, the last first.
func drops(migration string) string {
	var b strings.Builder
	for _, made := range slices.Backward(makes.FindAllStringSubmatch(migration, -1)) {
		fmt.Fprintf(&b, "DROP %s IF EXISTS %s;\n", made[1], made[2])
	}
	return b.String()
}

// unseen is a class of the characters that prescient.Unseen has, for the CHECKs of names: with ~ for a backslash, which a sql_mode may take
// for itself. Where characters are added, a new migration has another.
const unseen = "[~x{A0}~x{AD}~x{34F}~x{61C}~x{115F}-~x{1160}~x{1680}~x{17B4}-~x{17B5}~x{180B}-~x{180F}~x{2000}-~x{200F}~x{2028}-~x{202F}~x{205F}-~x{206F}" +
	"~x{2800}~x{3000}~x{3164}~x{FE00}-~x{FE0F}~x{FEFF}~x{FFA0}~x{FFF0}-~x{FFFB}~x{13430}-~x{1343F}~x{1BCA0}-~x{1BCA3}~x{1D173}-~x{1D17A}~x{E0000}-~x{E0FFF}]"

// renderings are what render has come to, by Schema: whoever migrates, or asks whether that is to be done, wants it several times.
var renderings sync.Map

type rendered struct {
	files fs.FS
	names []string
}

// render fills prefix and resolution into the migrations, as goose reads them, and returns their names, in their order. Neither is to be changed.
func (s Schema) render() (files fs.FS, names []string, err error) {
	s = Schema{Prefix: s.Prefix, Resolution: s.Resolution, Dialect: s.Dialect, Server: s.withoutProcedures(), Set: s.Set} // what it goes by
	read, _ := renderings.LoadOrStore(s, sync.OnceValues(s.renderEach))
	r, err := read.(func() (rendered, error))()
	return r.files, r.names, err
}

func (s Schema) renderEach() (rendered, error) {
	if err := text.CheckPrefix(s.Prefix); err != nil {
		return rendered{}, err
	}
	// A CHECK holds this too, but MySQL drops the row of an INSERT IGNORE that a CHECK refuses, and says nothing.
	const day = 24 * time.Hour
	if r := s.Resolution; r < time.Second || r > day || r%time.Second != 0 || day%r != 0 {
		return rendered{}, fmt.Errorf("%w: %s: whole seconds that divide a day are", ErrResolution, r)
	}
	names, err := s.names()
	if err != nil {
		return rendered{}, err
	}
	memory := afero.NewMemMapFs()
	for _, name := range names {
		migration, err := s.migration(name)
		if err != nil {
			return rendered{}, err
		}
		if err := afero.WriteFile(memory, name, []byte(marked(migration)), 0o444); err != nil {
			return rendered{}, err
		}
	}
	return rendered{afero.NewIOFS(memory), names}, nil
}

// marked marks each statement of a migration as one, so that goose need not look at every line for its end: it takes a
// buffer of 4 MB for each.
func marked(migration string) string {
	up, down, _ := strings.Cut(migration, "-- +goose Down")
	var b strings.Builder
	write := func(annotation string, statements []string) {
		b.WriteString("-- +goose " + annotation + "\n")
		for _, s := range statements {
			b.WriteString("-- +goose StatementBegin\n" + s + "\n-- +goose StatementEnd\n")
		}
	}
	write("NO TRANSACTION", nil) // DDL commits by itself
	write("Up", splitStatements(up))
	write("Down", splitStatements(down))
	return b.String()
}
