package sql

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

//go:embed advice/*.sql agent/*.sql attest/*.sql known/*.sql stats/*.sql audit/*.sql blocking/*.sql slotrun/*.sql steps/*.sql steps/parts/*.sql client/*.sql event/*.sql longrun/*.sql schedule/*.sql schedule/parts/*.sql status/*.sql sweep/*.sql list/*.sql list/parts/*.sql prune/*.sql operate/*.sql rollup/*.sql duty/*.sql forecast/*.sql ops/*.sql bulk/*.sql login/*.sql finding/*.sql rule/*.sql shard/*.sql
var statementFiles embed.FS

// ErrPrefix is returned where a table prefix is not allowed.
var ErrPrefix = errors.New("invalid table prefix")

// MaxPrefixLen is the longest table prefix: constraint names of 64 characters have to hold it.
const MaxPrefixLen = 32

var prefixPattern = regexp.MustCompile(`^([a-z_][a-z0-9_]*)?$`)

// CheckPrefix returns an error that wraps ErrPrefix unless the prefix is empty or of lower-case letters, digits and _ ,
// with no digit first. Lower case only: whether two names that differ in case are one table depends on the server's file system.
func CheckPrefix(prefix string) error {
	if len(prefix) > MaxPrefixLen {
		return fmt.Errorf("%w: %.40q has %d characters; at most %d are allowed", ErrPrefix, prefix, len(prefix), MaxPrefixLen)
	}
	if !prefixPattern.MatchString(prefix) {
		return fmt.Errorf("%w: %q: only a-z, 0-9 and _ are allowed, a digit not first", ErrPrefix, prefix)
	}
	return nil
}

// Statements is the text of every statement, by the path of its file without the ending: "slotrun/claim".
type Statements map[string]string

// onlyInFull are the statements that Plain does without.
var onlyInFull = map[string]bool{
	"client/cancel": true, "slotrun/reschedule": true, "slotrun/end_each": true, "slotrun/history_each": true, "operate/reslot_check": true, "operate/reslot_default": true,
}

// Load returns the statements for a table prefix, without their headers; they are not to be changed. The error wraps ErrPrefix.
func Load(prefix string) (Statements, error) { return LoadFor(Full, prefix) }

// LoadFor is Load in a dialect.
func LoadFor(dialect Dialect, prefix string) (Statements, error) {
	return LoadOn(MySQL, dialect, prefix)
}

// LoadOn is LoadFor on a server: what is sent to Vitess says where rows lie, too.
func LoadOn(server Server, dialect Dialect, prefix string) (Statements, error) {
	if err := CheckPrefix(prefix); err != nil {
		return nil, err
	}
	if dialect != Plain {
		dialect = Full
	}
	of := installation{dialect, prefix, server.Placed(), server == TiDB}
	read, _ := loaded.LoadOrStore(of, sync.OnceValues(of.load))
	return read.(func() (Statements, error))()
}

// loaded has the statements by installation: who opens the tables for each thing that it does, as commands and doors do, would spend
// longer on reading them than the server does on answering. A program has one or two.
var loaded sync.Map

type installation struct {
	dialect Dialect
	prefix  string
	placed  bool
	alone   bool // no lock is shared: TiDB refuses to (1235), or takes none
}

func (i installation) load() (Statements, error) {
	all := make(Statements)
	err := fs.WalkDir(statementFiles, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(path, "/parts/") {
			return err
		}
		text, err := i.dialect.readFor("", i.placed, statementFiles, path)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path, ".sql")
		if i.dialect == Plain {
			if onlyInFull[name] {
				return nil
			}
			text = strings.ReplaceAll(text, " SKIP LOCKED", " NOWAIT")
		}
		if i.alone {
			text = strings.ReplaceAll(text, "LOCK IN SHARE MODE", "FOR UPDATE")
		}
		all[name] = strings.ReplaceAll(withLeases(withoutComments(text)), "{prefix}", i.prefix)
		return nil
	})
	return all, err
}

// Get returns a statement; it panics on a name that has no file, which a test of every name rules out.
func (s Statements) Get(name string) string {
	text, ok := s[name]
	if !ok {
		panic("sql: no statement " + name)
	}
	return text
}

// withoutComments drops the header lines: the server need not read them each time.
func withoutComments(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			kept = append(kept, strings.TrimRight(line, "\n"))
		}
	}
	return strings.Join(kept, "\n")
}
