package migrate

import (
	"context"
	"database/sql"
	"strings"
)

// callers are the accounts that may call a procedure which is made anew, by that procedure. DROP PROCEDURE takes it from them.
type callers struct {
	of    map[string][]string
	known bool // false where this account may not read who they are
}

// callersOf reads who may call the procedures that there are.
func (s Schema) callersOf(ctx context.Context, db *sql.DB) callers {
	c := callers{of: make(map[string][]string)}
	read := func(query string, take func(name, account string)) bool {
		rows, err := db.QueryContext(ctx, query, strings.ReplaceAll(s.Prefix, "_", `\_`)+"%")
		if err != nil {
			return false
		}
		defer rows.Close()
		for rows.Next() {
			var name, account string
			if rows.Scan(&name, &account) != nil {
				return false
			}
			take(name, account)
		}
		return rows.Err() == nil
	}
	there := read("SELECT routine_name, '' FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_type = 'PROCEDURE' AND routine_name LIKE ?",
		func(name, _ string) { c.of[name] = nil })
	c.known = read("SELECT routine_name, CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.procs_priv"+
		" WHERE db = DATABASE() AND routine_name LIKE ? AND routine_type = 'PROCEDURE' AND FIND_IN_SET('Execute', proc_priv)",
		func(name, account string) { c.of[name] = append(c.of[name], account) }) && there
	return c
}

// again lets the accounts call a procedure that was there, and now is another; lost says that some may not.
func (c callers) again(ctx context.Context, db *sql.DB, procedure string) (granted []string, lost bool) {
	accounts, there := c.of[procedure]
	if !there {
		return nil, false
	}
	for _, account := range accounts {
		if _, err := db.ExecContext(ctx, "GRANT EXECUTE ON PROCEDURE "+procedure+" TO "+account); err != nil {
			lost = true
			continue
		}
		granted = append(granted, account)
	}
	return granted, lost || !c.known
}
