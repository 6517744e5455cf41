package account

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// May says whether a role has a right on all of some tables, which are named without the prefix, and on all of their columns.
func May(role string, dialect text.Dialect, right string, tables ...string) bool {
	rights, all := text.Rights(role, dialect)
	for _, table := range tables {
		if !all && (rights[table] == "" || !strings.Contains(rights[table]+",", right+",")) {
			return false
		}
	}
	return true
}

// MayRead says whether a role may read these tables, or of them what is looked at: the roles of serve may read all columns but payloads and the like. An app
// that may read some columns in plain sees too little.
func MayRead(role string, dialect text.Dialect, tables ...string) bool {
	rights, all := text.Rights(role, dialect)
	for _, table := range tables {
		tooFew := strings.HasPrefix(rights[table], "SELECT (") && !strings.HasPrefix(role, "serve-")
		if !all && (tooFew || !strings.HasPrefix(rights[table], "SELECT")) {
			return false
		}
	}
	return true
}

// RoleOf is the role that the rights of the connection's user are those of, the worker's first; the worker's where they are those of none.
func RoleOf(ctx context.Context, db *sqlx.DB, prefix string) (string, error) {
	for _, role := range []string{"worker", "serve-admin", "serve-operator", "operator", "app-reschedule", "app", "serve-viewer", "analyst", "app-sql"} {
		missing, err := tried(ctx, db, prefix, explained(needsOf[role]))
		if err != nil {
			return "", err
		}
		if len(missing) == 0 || role == "app" && len(missing) == 1 && strings.HasPrefix(missing[0], "UPDATE") {
			return role, nil
		}
	}
	return "worker", nil
}

// Missing are the rights that the user of the connection lacks for a role.
func Missing(ctx context.Context, db *sqlx.DB, tables *store.Tables, role string) ([]string, error) {
	if role == "owner" {
		return missingOfOwner(ctx, db, tables)
	}
	objects, err := objectNeeds(tables, role)
	if err != nil {
		return nil, err
	}
	return tried(ctx, db, tables.Prefix, append(explained(needsOf[role]), objects...))
}

// missingOfOwner are those that an owner lacks.
func missingOfOwner(ctx context.Context, db *sqlx.DB, tables *store.Tables) ([]string, error) {
	missing, err := tried(ctx, db, tables.Prefix, explained(ownerNeeds))
	if err != nil {
		return nil, err
	}
	var grants []string
	if err := db.SelectContext(ctx, &grants, "SHOW GRANTS"); err != nil {
		return nil, err
	}
	var database string
	if err := db.GetContext(ctx, &database, "SELECT DATABASE()"); err != nil {
		return nil, err
	}
	return append(missing, withoutRights(grants, database)...), nil
}

func explained(needs []need) []need {
	tries := make([]need, 0, len(needs))
	for _, n := range needs {
		tries = append(tries, need{n.right, "EXPLAIN " + n.statement})
	}
	return tries
}

// tried are the rights without which the server refuses a statement.
func tried(ctx context.Context, db *sqlx.DB, prefix string, needs []need) (missing []string, err error) {
	for _, n := range needs {
		rows, err := db.QueryContext(ctx, strings.ReplaceAll(n.statement, "{p}", prefix))
		if err == nil {
			err = errors.Join(rows.Close(), rows.Err())
		}
		var server *mysql.MySQLError
		switch {
		case strings.HasPrefix(n.statement, "CALL") && !errno.Is(err, errno.RoutineDenied):
			// What else it fails with is the procedure's own trouble; the doctor's look at the schema says so.
		case errno.Denied(err):
			missing = append(missing, strings.ReplaceAll(n.right, "{p}", prefix))
		case errors.As(err, &server):
			// A broken table; another look says so.
		case err != nil:
			return nil, err
		}
	}
	return missing, nil
}

// objectNeeds are the views and procedures that a role has rights on, which cannot be explained: a view is opened, and a procedure called for an
// entity that no row can have.
func objectNeeds(tables *store.Tables, role string) (needs []need, err error) {
	objects, err := migrate.Schema{Prefix: tables.Prefix, Resolution: tables.Grid.Resolution(), Server: tables.Server, Dialect: tables.Dialect}.Objects()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		switch name := strings.TrimPrefix(o.Name, tables.Prefix); {
		case o.Kind == "view" && May(role, tables.Dialect, "SELECT", name):
			needs = append(needs, need{"SELECT on {p}" + name, "SHOW COLUMNS FROM {p}" + name})
		case o.Kind == "procedure" && May(role, tables.Dialect, "EXECUTE", name):
			needs = append(needs, need{"EXECUTE on PROCEDURE {p}" + name, "CALL {p}" + name + "(REPEAT('-', 255), '-', '-')"})
		}
	}
	return needs, nil
}

// withoutRights returns which of the owner's rights no line of SHOW GRANTS gives on the whole database.
func withoutRights(grants []string, database string) (missing []string) {
	has := make(map[string]bool)
	for _, line := range grants {
		list, scope, ok := strings.Cut(strings.TrimPrefix(line, "GRANT "), " ON ")
		if !ok {
			continue // a role
		}
		scope, _, _ = strings.Cut(scope, " TO ")
		scope = strings.NewReplacer("`", "", `\`, "").Replace(scope)
		if scope != "*.*" && scope != database+".*" {
			continue
		}
		for right := range strings.SplitSeq(list, ",") {
			has[strings.TrimSpace(right)] = true
		}
	}
	if has["ALL PRIVILEGES"] {
		return nil
	}
	for _, right := range ownerRights {
		if !has[right] {
			missing = append(missing, right+" on "+database+".*")
		}
	}
	return slices.Clip(missing)
}
