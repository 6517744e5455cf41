package sql

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed grants/*.sql grants/parts/*.sql
var grantFiles embed.FS

// ErrGrant is returned where there is no such role, or a name cannot stand in a GRANT.
var ErrGrant = errors.New("no such grant")

// Roles returns the names of the roles, the least first.
func Roles() []string {
	return []string{"analyst", "app-sql", "app", "app-reschedule", "operator", "worker", "oncall", "serve-door", "serve-viewer", "serve-operator", "serve-admin", "owner"}
}

// Account says to whom a role is granted, on which installation.
type Account struct {
	// Database and Prefix of the tables.
	Database, Prefix string
	// User and Host of the account, which has to exist; the host is % by default.
	User, Host string
	// Dialect that the installation is used in: Full where none is given. In Plain there is no procedure to call, and an app
	// in another language gives all columns.
	Dialect Dialect
	// Server is what it is an account of: TiDB gives rights on whole tables only, and is always used in Plain.
	Server Server
}

// What may be in an account: nothing that would have to be escaped, under whatever sql_mode the text is run.
var (
	userPattern = regexp.MustCompile(`^[A-Za-z0-9_.$@+-]{1,32}$`)
	hostPattern = regexp.MustCompile(`^[A-Za-z0-9_.:%/-]{1,255}$`)
)

// readGrants returns the comment and the grants of a role, with words in braces for the names.
func readGrants(role string, dialect Dialect) (comment, grants string, err error) {
	text, err := dialect.Read(grantFiles, "grants/"+role+".sql")
	var above, below strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "--") {
			above.WriteString(line)
		} else {
			below.WriteString(line)
		}
	}
	return above.String(), writtenColumns(dialect).Replace(below.String()), err
}

// writtenColumns puts the columns that roles write of checks and of audit entries in the place of the words for them. In Plain those are more:
// what has no default there.
func writtenColumns(dialect Dialect) *strings.Replacer {
	ofCheck, ofEntry := "", ""
	if dialect == Plain {
		ofCheck, ofEntry = "inserted_at, ", "at, account, entry, "
	}
	return strings.NewReplacer(
		"{check_columns}", "entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload, revision, "+ofCheck+"expires_at, trace, rule_version, occasion_at",
		"{entry_columns}", ofEntry+"stream, kind, id, verb, version, incarnation, person, host, program, command, reason, before_change, after_change")
}

// columnRights are rights on columns, with which alone TiDB lets no INSERT through.
var columnRights = regexp.MustCompile(`(SELECT|INSERT|UPDATE) \([^)]*\)`)

// Grants returns the statements that give a role to an account, and the comment that explains them. All but those of
// the owner need the tables to be there. The error wraps ErrGrant or ErrPrefix.
func Grants(role string, a Account) (comment string, statements []string, err error) {
	if a.Host == "" {
		a.Host = "%"
	}
	switch {
	case !slices.Contains(Roles(), role):
		return "", nil, fmt.Errorf("%w: role %.80q: %s are there", ErrGrant, role, strings.Join(Roles(), ", "))
	case !userPattern.MatchString(a.User):
		return "", nil, fmt.Errorf("%w: user %.80q: 1 to 32 letters, digits and _ . $ @ + - are allowed", ErrGrant, a.User)
	case !hostPattern.MatchString(a.Host):
		return "", nil, fmt.Errorf("%w: host %.80q: letters, digits and _ . : %% / - are allowed", ErrGrant, a.Host)
	case a.Database == "" || utf8.RuneCountInString(a.Database) > 64 || !utf8.ValidString(a.Database) || strings.ContainsFunc(a.Database, control):
		return "", nil, fmt.Errorf("%w: database %.80q: 1 to 64 characters are allowed", ErrGrant, a.Database)
	}
	if err := CheckPrefix(a.Prefix); err != nil {
		return "", nil, err
	}
	fill := strings.NewReplacer("{account}", a.Name(), "{database}", quoteName(a.Database),
		// Here, and only here, _ and % stand for others.
		"{database_pattern}", quoteName(strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`).Replace(a.Database)))
	comment, text, err := readGrants(role, a.Dialect.On(a.Server))
	if err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(text) {
		statement := strings.TrimSuffix(line, ";\n")
		if before, after, is := strings.Cut(statement, ".{"); is { // what it is on
			name, rest, _ := strings.Cut(after, "}")
			statement = before + "." + quoteName(a.Prefix+name) + rest
		}
		if a.Server == TiDB {
			statement = columnRights.ReplaceAllString(statement, "$1")
		}
		statements = append(statements, fill.Replace(statement))
	}
	return comment, statements, nil
}

// GrantEntry returns the statement that writes into the audit which roles an account was granted, all that it is to have, and the comment
// that explains it: for whoever runs the statements of Grants, behind them. An owner has none, since the tables may be missing still. The
// errors are those of Grants.
func GrantEntry(roles []string, a Account) (comment, statement string, err error) {
	for _, role := range roles {
		if _, _, err := Grants(role, a); err != nil || role == "owner" {
			return "", "", err
		}
	}
	if comment, statement, err = readGrants("entry", a.Dialect.On(a.Server)); err != nil {
		return "", "", err
	}
	given := fmt.Sprintf(`{"roles":["%s"],"user":"%s","host":"%s"}`, strings.Join(roles, `","`), a.User, cmp.Or(a.Host, "%"))
	fill := strings.NewReplacer("{database}", quoteName(a.Database), "{audit_log}", quoteName(a.Prefix+"audit_log"), "{given}", given,
		"{stream}", InstallationStream)
	return strings.TrimSuffix(comment, "\n"), fill.Replace(strings.TrimSuffix(statement, ";\n")), nil
}

// InstallationStream is the expression of the stream of the audit in which what became of the installation stands.
const InstallationStream = "SUBSTRING(UNHEX(SHA2(CONCAT('installation', UNHEX('00'), 'prescient'), 256)), 1, 16)"

// Name is that of the account, as it stands in a GRANT.
func (a Account) Name() string { return "'" + a.User + "'@'" + cmp.Or(a.Host, "%") + "'" }

var rightsLine = regexp.MustCompile(`(?m)^GRANT (.+) ON (?:PROCEDURE )?\{database\}\.\{(\w+)\}`)

// Rights returns what a role has in a dialect on each table, view and procedure, by its name without the prefix; that is not to be changed.
// The owner has all.
func Rights(role string, dialect Dialect) (rights map[string]string, all bool) {
	if !slices.Contains(Roles(), role) {
		return nil, false
	}
	if dialect != Plain {
		dialect = Full
	}
	read, _ := rightsRead.LoadOrStore(ofRole{role, dialect}, sync.OnceValue(func() map[string]string { return readRights(role, dialect) }))
	return read.(func() map[string]string)(), role == "owner"
}

// rightsRead has the rights of each role: the doctor asks for them some hundred times in one look.
var rightsRead sync.Map

type ofRole struct {
	role    string
	dialect Dialect
}

func readRights(role string, dialect Dialect) map[string]string {
	rights := make(map[string]string)
	_, text, err := readGrants(role, dialect)
	if err != nil {
		return rights
	}
	for _, found := range rightsLine.FindAllStringSubmatch(text, -1) {
		rights[found[2]] = found[1]
	}
	return rights
}

// RolesWith returns the roles that have a right, such as UPDATE, on a table, view or procedure, which is named without the prefix; with a
// column on this one at least. The owner has all.
func RolesWith(right, name, column string, dialect Dialect) (roles []string) {
	for _, role := range Roles() {
		if strings.HasPrefix(role, "serve-") { // those of one program, which nobody takes for the sake of a right
			continue
		}
		rights, all := Rights(role, dialect)
		for _, one := range eachRight.FindAllStringSubmatch(rights[name], -1) {
			columns := strings.Split(strings.Trim(one[2], " ()"), ", ")
			all = all || one[1] == right && (one[2] == "" || column == "" || slices.Contains(columns, column))
		}
		if all {
			roles = append(roles, role)
		}
	}
	return roles
}

var eachRight = regexp.MustCompile(`([A-Z]+)( \([^)]*\))?`)

func control(r rune) bool { return r < ' ' || r == 0x7f }

// quoteName quotes the name of a table or database.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
