package doctor

import (
	"fmt"
	"strings"

	"prescient/prescient"
	text "prescient/sql"
)

// Use is what a database user is for: a role of the grants.
type Use string

// The uses, by the names of the roles that `grants` prints.
const (
	UseAnalyst       Use = "analyst"
	UseAppSQL        Use = "app-sql"
	UseApp           Use = "app"
	UseAppReschedule Use = "app-reschedule"
	UseOperator      Use = "operator"
	UseWorker        Use = "worker"
	UseOwner         Use = "owner"
)

// ParseUse reads the name of a role; empty is worker. The error wraps prescient.ErrInvalid.
func ParseUse(name string) (Use, error) {
	switch u := Use(name); u {
	case "":
		return UseWorker, nil
	case UseAnalyst, UseAppSQL, UseApp, UseAppReschedule, UseOperator, UseWorker, UseOwner:
		return u, nil
	}
	return "", fmt.Errorf("%w: use %.80q: analyst, app-sql, app-reschedule, app, operator, worker or owner are allowed", prescient.ErrInvalid, name)
}

// mayUse says whether the role has a right on all of these tables, which are named without the prefix, and on all of their columns.
func (d *doctor) mayUse(right string, tables ...string) bool {
	rights, all := text.Rights(string(d.options.Use), d.tables.Dialect)
	for _, table := range tables {
		if !all && (rights[table] == "" || !strings.Contains(rights[table]+",", right+",")) {
			return false
		}
	}
	return true
}

// seesPartOf says whether the role has a right to read some columns of a table, which is named with the prefix, and not the others.
func (d *doctor) seesPartOf(table string) bool {
	rights, _ := text.Rights(string(d.options.Use), d.tables.Dialect)
	return strings.Contains(rights[strings.TrimPrefix(table, d.tables.Prefix)], "SELECT (")
}

// unseen is the finding of an examination for which the role has no right, and needs none.
func (u Use) unseen(code string, tables []string) Finding {
	f := fine(code, fmt.Sprintf("not looked at: a user that is for %s may not read %s, and need not; doctor as operator or owner looks", u, strings.Join(tables, ", ")))
	f.Unseen = true
	return f
}
