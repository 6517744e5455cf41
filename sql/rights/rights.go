// Package rights compares what an account of the server has with what roles give it, and says what takes the surplus away.
package rights

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// all is what a server calls all rights on an object but to hand them on, which is handOn.
const (
	all    = "ALL PRIVILEGES"
	handOn = "GRANT OPTION"
)

// right is one right: on all of an object, or on columns.
type right struct {
	whole   bool
	columns []string
}

// Set is what an account has: by object, as a GRANT names it, and by right.
type Set map[string]map[string]right

const nameInGrant = "(?:`(?:[^`]|``)*`|[\\w$*]+)"

var (
	grantLine = regexp.MustCompile("^GRANT (.+?) ON (TABLE |PROCEDURE |FUNCTION )?(" + nameInGrant + ")\\.(" + nameInGrant + ") TO (.+)$")
	oneRight  = regexp.MustCompile(`\s*([A-Z][A-Z ]*[A-Z])\s*(?:\(([^)]*)\))?\s*(?:,|$)`)
)

// Parse reads GRANT statements: those that a role is given by, and those that SHOW GRANTS answers with. It leaves out rights on the whole
// server, and roles of the server.
func Parse(lines []string) Set {
	s := make(Set)
	for _, line := range lines {
		found := grantLine.FindStringSubmatch(line)
		if found == nil || found[3] == "*" {
			continue
		}
		on := strings.TrimPrefix(found[2], "TABLE ") + quoted(found[3]) + "." + quoted(found[4])
		for _, one := range oneRight.FindAllStringSubmatch(found[1], -1) {
			s.add(on, one[1], one[2])
		}
		if strings.HasSuffix(found[5], " WITH GRANT OPTION") {
			s.add(on, handOn, "")
		}
	}
	return s
}

func quoted(name string) string {
	if name == "*" || strings.HasPrefix(name, "`") {
		return name
	}
	return "`" + name + "`"
}

func (s Set) add(on, name, columns string) {
	if name == "USAGE" {
		return
	}
	if s[on] == nil {
		s[on] = make(map[string]right)
	}
	had := s[on][name]
	if columns == "" {
		had.whole = true
	}
	for column := range strings.SplitSeq(columns, ",") {
		if column = strings.Trim(column, " `"); column != "" && !slices.Contains(had.columns, column) {
			had.columns = append(had.columns, column)
		}
	}
	s[on][name] = had
}

// Within returns the rights on some tables, views and procedures of a database, and on the whole of it.
func (s Set) Within(database string, names []string) Set {
	kept := make(Set)
	for on, rights := range s {
		_, bare, routine := strings.Cut(on, " `")
		if routine {
			bare = "`" + bare
		} else {
			bare = on
		}
		of, name, ok := strings.Cut(bare, "`.")
		if of = strings.ReplaceAll(strings.TrimPrefix(of, "`"), "``", "`"); !ok {
			continue
		}
		if name == "*" && stands(of, database) || name != "*" && of == database && slices.Contains(names, strings.Trim(name, "`")) {
			kept[on] = rights
		}
	}
	return kept
}

// stands says whether a pattern of a GRANT stands for a database.
func stands(pattern, database string) bool {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	like, err := regexp.Compile("(?s)^" + b.String() + "$")
	return err == nil && like.MatchString(database)
}

// Beyond returns what there is that was not given. What was given on the whole database covers its tables.
func (s Set) Beyond(given Set) Set {
	surplus := make(Set)
	for on, rights := range s {
		for name, has := range rights {
			gave, gaveAll := given[on][name], given[on][all].whole && name != handOn
			for database, rights := range given {
				if strings.HasSuffix(database, ".*") {
					gaveAll = gaveAll || rights[name].whole || rights[all].whole && name != handOn
				}
			}
			if gaveAll || gave.whole {
				continue
			}
			more := right{whole: has.whole}
			for _, column := range has.columns {
				if !slices.Contains(gave.columns, column) {
					more.columns = append(more.columns, column)
				}
			}
			if !more.whole && len(more.columns) == 0 {
				continue
			}
			if surplus[on] == nil {
				surplus[on] = make(map[string]right)
			}
			surplus[on][name] = more
		}
	}
	return surplus
}

// OnDatabases says whether any are on whole databases.
func (s Set) OnDatabases() bool {
	for on := range s {
		if strings.HasSuffix(on, ".*") {
			return true
		}
	}
	return false
}

// Names are the objects, those of whole databases last.
func (s Set) Names() []string {
	return slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		if x, y := strings.HasSuffix(a, ".*"), strings.HasSuffix(b, ".*"); x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
}

// On says what they are on one object: SELECT, INSERT (payload).
func (s Set) On(on string) string { return strings.Join(s.list(on), ", ") }

func (s Set) list(on string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(s[on])) {
		if r := s[on][name]; r.whole {
			list = append(list, name)
		} else {
			list = append(list, name+" (`"+strings.Join(r.columns, "`, `")+"`)")
		}
	}
	return list
}

// Revokes returns what takes away the rights on one object. On a table that takes from its columns, too, what it takes from all of it: what
// was given on columns is to be granted again behind it.
func (s Set) Revokes(on, account string) (statements []string) {
	revoke := func(what string) { statements = append(statements, "REVOKE "+what+" ON "+on+" FROM "+account) }
	rest := s.list(on)
	if slices.Contains(rest, handOn) {
		revoke(handOn) // it cannot stand beside all others
		rest = slices.DeleteFunc(rest, func(name string) bool { return name == handOn })
	}
	if slices.Contains(rest, all) {
		revoke(all)
	} else if len(rest) > 0 {
		revoke(strings.Join(rest, ", "))
	}
	return statements
}

// Narrowing returns the statements that give an account its roles, among them those that take a surplus away: each object's before what is
// granted on it, so that nothing is missing for longer than a moment, and those on whole databases at the end, when all is granted that
// they had covered.
func Narrowing(grants []string, surplus Set, account string) (statements, onDatabases []string) {
	done := make(map[string]bool)
	for _, grant := range grants {
		for on := range Parse([]string{grant}) {
			if !done[on] {
				statements = append(statements, surplus.Revokes(on, account)...)
			}
			done[on] = true
		}
		statements = append(statements, grant)
	}
	for _, on := range surplus.Names() {
		switch revokes := surplus.Revokes(on, account); {
		case done[on]:
		case strings.HasSuffix(on, ".*"):
			onDatabases = append(onDatabases, revokes...)
		default:
			statements = append(statements, revokes...)
		}
	}
	return statements, onDatabases
}
