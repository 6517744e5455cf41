package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	text "prescient/sql"
	"prescient/sql/migrate"
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
	UseOncall        Use = "oncall"
	UseOwner         Use = "owner"
)

// ParseUse reads the name of a role; empty is worker. The error wraps prescient.ErrInvalid.
func ParseUse(name string) (Use, error) {
	switch u := Use(name); u {
	case "":
		return UseWorker, nil
	case UseAnalyst, UseAppSQL, UseApp, UseAppReschedule, UseOperator, UseWorker, UseOncall, UseOwner:
		return u, nil
	}
	return "", fmt.Errorf("%w: use %.80q is no role; the roles are analyst, app-sql, app-reschedule, app, operator, worker, oncall and owner", prescient.ErrInvalid, name)
}

// mayUse says whether the role has a right on all of these tables, which are named without the prefix, and on all of their columns.
func (d *doctor) mayUse(right string, tables ...string) bool {
	return d.roleMay(string(d.options.Use), right, tables...)
}

func (d *doctor) roleMay(role, right string, tables ...string) bool {
	rights, all := text.Rights(role, d.tables.Dialect)
	for _, table := range tables {
		if !all && (rights[table] == "" || !strings.Contains(rights[table]+",", right+",")) {
			return false
		}
	}
	return true
}

// seesPartOf says whether the role has rights on some columns of a table, which is named with the prefix, and may not read it all.
func (d *doctor) seesPartOf(table string) bool {
	rights, _ := text.Rights(string(d.options.Use), d.tables.Dialect)
	of := rights[strings.TrimPrefix(table, d.tables.Prefix)]
	return strings.Contains(of, "(") && !d.mayUse("SELECT", strings.TrimPrefix(table, d.tables.Prefix))
}

// unseen is the finding of an examination for which the role has no right, and needs none.
func (d *doctor) unseen(code string, tables []string) Finding {
	return unseen(code, fmt.Sprintf("The role %s may not read %s, and need not.", d.options.Use, strings.Join(tables, ", ")), d.whoLooks(tables...))
}

// whoLooks names the roles that may read all of some tables.
func (d *doctor) whoLooks(tables ...string) string {
	roles := slices.DeleteFunc(text.Roles(), func(role string) bool { return !d.roleMay(role, "SELECT", tables...) })
	list := strings.Join(roles, ", ")
	if at := strings.LastIndex(list, ", "); at >= 0 {
		list = list[:at] + " or" + list[at+1:]
	}
	return "Run `doctor` with an account of the role " + list + "."
}

// need is a right, and a statement that is refused without it. The statements are explained, not run.
type need struct{ right, statement string }

// Rights, by use. {p} is the table prefix.
var (
	appNeeds = []need{
		{"INSERT on {p}audit_log", "INSERT INTO {p}audit_log (stream, kind, id, verb, incarnation) SELECT '', '', '', '', NULL FROM DUAL WHERE 1 = 0"},
		{"INSERT on {p}schedule_deleted", "INSERT INTO {p}schedule_deleted (id, fired_until) SELECT 'x', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"},
		{"SELECT on {p}slot_config", "SELECT version FROM {p}slot_config WHERE id = 1"},
		{"SELECT on {p}future_job", "SELECT job_key, revision, payload FROM {p}future_job WHERE 1 = 0"},
		{"INSERT on {p}future_job", "INSERT INTO {p}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload, revision) SELECT 'x', 'x', 'x', '', UTC_TIMESTAMP(6), UNHEX(''), UTC_TIMESTAMP(), UTC_TIMESTAMP(), NULL, 1 FROM DUAL WHERE 1 = 0"},
		{"UPDATE on {p}future_job", "UPDATE {p}future_job SET due_at = due_at, next_check_at = next_check_at, payload = payload, revision = revision WHERE 1 = 0"},
		{"DELETE on {p}future_job", "DELETE FROM {p}future_job WHERE 1 = 0"},
		{"INSERT on {p}job_history", "INSERT INTO {p}job_history (entity_name, entity_key, outcome, ended_at) SELECT 'x', 'x', 'cancelled', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"},
	}
	appSQLNeeds = []need{
		{"INSERT on {p}future_job", "INSERT INTO {p}future_job (entity_name, entity_key, job_exec, tag, due_at, payload) SELECT 'x', 'x', 'x', '', UTC_TIMESTAMP(6), NULL FROM DUAL WHERE 1 = 0"},
	}
	analystNeeds = []need{
		{"SELECT on {p}slot_config", "SELECT version FROM {p}slot_config WHERE id = 1"},
		{"SELECT on {p}job_history", "SELECT job_key, ended_at FROM {p}job_history WHERE 1 = 0"},
	}
	operatorNeeds = []need{
		{"INSERT on {p}audit_log", "INSERT INTO {p}audit_log (stream, kind, id, verb, incarnation) SELECT '', '', '', '', NULL FROM DUAL WHERE 1 = 0"},
		{"SELECT on {p}slot_config", "SELECT version FROM {p}slot_config WHERE id = 1"},
		{"SELECT on {p}future_job", "SELECT job_key, revision, payload FROM {p}future_job WHERE 1 = 0"},
		{"INSERT on {p}future_job", "INSERT INTO {p}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload, revision) SELECT 'x', 'x', 'x', '', UTC_TIMESTAMP(6), UNHEX(''), UTC_TIMESTAMP(), UTC_TIMESTAMP(), NULL, 1 FROM DUAL WHERE 1 = 0"},
		{"SELECT on {p}job_history", "SELECT job_key, ended_at FROM {p}job_history WHERE 1 = 0"},
		{"SELECT on {p}slot_run", "SELECT token, batch_seq FROM {p}slot_run WHERE 1 = 0"},
		{"SELECT on {p}job_pause", "SELECT job_exec FROM {p}job_pause WHERE 1 = 0"},
		{"INSERT on {p}job_pause", "INSERT INTO {p}job_pause (job_exec, paused_by, reason) SELECT 'x', '', '' FROM DUAL WHERE 1 = 0"},
		{"UPDATE on {p}job_pause", "UPDATE {p}job_pause SET paused_by = paused_by, reason = reason WHERE 1 = 0"},
		{"DELETE on {p}job_pause", "DELETE FROM {p}job_pause WHERE 1 = 0"},
	}
	workerNeeds = []need{
		{"INSERT on {p}audit_log", "INSERT INTO {p}audit_log (stream, kind, id, verb, incarnation) SELECT '', '', '', '', NULL FROM DUAL WHERE 1 = 0"},
		{"INSERT on {p}schedule_deleted", "INSERT INTO {p}schedule_deleted (id, fired_until) SELECT 'x', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"},
		{"SELECT on {p}slot_config", "SELECT version FROM {p}slot_config WHERE id = 1"},
		{"SELECT on {p}future_job", "SELECT job_key, revision, payload FROM {p}future_job WHERE 1 = 0"},
		{"UPDATE on {p}future_job", "UPDATE {p}future_job SET next_check_at = next_check_at, revision = revision, last_error = last_error WHERE 1 = 0"},
		{"DELETE on {p}future_job", "DELETE FROM {p}future_job WHERE 1 = 0"},
		{"INSERT on {p}job_history", "INSERT INTO {p}job_history (entity_name, entity_key, outcome, ended_at) SELECT 'x', 'x', 'done', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"},
		{"SELECT on {p}slot_run", "SELECT token, batch_seq FROM {p}slot_run WHERE 1 = 0"},
		{"INSERT on {p}slot_run", "INSERT INTO {p}slot_run (slot, bucket, buckets, worker, started_at, finished_at) SELECT UTC_TIMESTAMP(), 0, 1, 'x', NULL, NULL FROM DUAL WHERE 1 = 0"},
		{"UPDATE on {p}slot_run", "UPDATE {p}slot_run SET token = token, batch_seq = batch_seq, allocated_until = allocated_until WHERE 1 = 0"},
		{"SELECT on {p}job_pause", "SELECT job_exec FROM {p}job_pause WHERE 1 = 0"},
	}
	ownerNeeds = []need{
		{"UPDATE on {p}slot_config", "UPDATE {p}slot_config SET version = version WHERE 1 = 0"},
		{"UPDATE on {p}future_job", "UPDATE {p}future_job SET next_check_at = next_check_at, revision = revision WHERE 1 = 0"},
		{"UPDATE on {p}slot_run", "UPDATE {p}slot_run SET token = token WHERE 1 = 0"},
	}
	// ownerRights cannot be tried by explaining a statement.
	ownerRights = []string{"CREATE", "ALTER", "DROP", "INDEX"}
)

// needsOf are those of a use.
var needsOf = map[Use][]need{UseAnalyst: analystNeeds, UseAppSQL: appSQLNeeds, UseApp: appNeeds, UseAppReschedule: appNeeds,
	UseOperator: operatorNeeds, UseWorker: workerNeeds, UseOncall: append(slices.Clone(operatorNeeds), workerNeeds...), UseOwner: ownerNeeds}

// ownUse is the use that the rights of the user are those of, the worker's first; worker where they are those of none.
func (d *doctor) ownUse(ctx context.Context) (Use, error) {
	for _, use := range []Use{UseWorker, UseOperator, UseAppReschedule, UseApp, UseAnalyst, UseAppSQL} {
		missing, err := d.missing(ctx, explained(needsOf[use]))
		if err != nil {
			return "", err
		}
		if len(missing) == 0 || use == UseApp && len(missing) == 1 && strings.HasPrefix(missing[0], "UPDATE") {
			return use, nil
		}
	}
	return UseWorker, nil
}

func explained(needs []need) []need {
	tries := make([]need, 0, len(needs))
	for _, n := range needs {
		tries = append(tries, need{n.right, "EXPLAIN " + n.statement})
	}
	return tries
}

// missing are the rights that the user of the connection lacks.
func (d *doctor) missing(ctx context.Context, needs []need) (missing []string, err error) {
	for _, n := range needs {
		rows, err := d.db.QueryContext(ctx, strings.ReplaceAll(n.statement, "{p}", d.tables.Prefix))
		if err == nil {
			err = errors.Join(rows.Close(), rows.Err())
		}
		var server *mysql.MySQLError
		switch {
		case strings.HasPrefix(n.statement, "CALL") && !errno.Is(err, errno.RoutineDenied):
			// What else it fails with is the procedure's own trouble; examineSchema says so.
		case errno.Denied(err):
			missing = append(missing, strings.ReplaceAll(n.right, "{p}", d.tables.Prefix))
		case errors.As(err, &server):
			// A broken table; another examination says so.
		case err != nil:
			return nil, err
		}
	}
	return missing, nil
}

// examineGrants tries what the user of the connection needs, for its use.
func (d *doctor) examineGrants(ctx context.Context) ([]Finding, error) {
	use := d.options.Use
	objects, err := d.objectNeeds()
	if err != nil {
		return nil, err
	}
	missing, err := d.missing(ctx, append(explained(needsOf[use]), objects...))
	if err != nil {
		return nil, err
	}
	var user string
	if err := d.db.GetContext(ctx, &user, "SELECT CURRENT_USER()"); err != nil {
		return nil, err
	}
	if use == UseOwner {
		var grants []string
		if err := d.db.SelectContext(ctx, &grants, "SHOW GRANTS"); err != nil {
			return nil, err
		}
		var database string
		if err := d.db.GetContext(ctx, &database, "SELECT DATABASE()"); err != nil {
			return nil, err
		}
		missing = append(missing, withoutRights(grants, database)...)
	}
	// An app need not put pending checks to another time; app-reschedule is for those that do.
	if at := slices.IndexFunc(missing, func(right string) bool { return strings.HasPrefix(right, "UPDATE") }); use == UseApp && at >= 0 && len(missing) > 1 {
		missing = slices.Delete(missing, at, at+1)
	} else if use == UseApp && at >= 0 {
		return []Finding{fine("grants", fmt.Sprintf("User %s has the rights of an app that inserts and cancels; replace, earlier, later and Reschedule need %s.", user, missing[0]))}, nil
	}
	if len(missing) > 0 {
		name, _, _ := strings.Cut(user, "@")
		return []Finding{bad("grants", fmt.Sprintf("User %s lacks rights for its use as %s: %s.", user, use, strings.Join(missing, ", ")),
			fmt.Sprintf("First see that `migrate --repair` finds nothing. Then run `grants --role %s --user %s`, and the statements that it prints.", use, name))}, nil
	}
	return []Finding{fine("grants", fmt.Sprintf("User %s has the rights for its use as %s.", user, use))}, nil
}

// objectNeeds are the views and procedures that the use has rights on, which cannot be explained: a view is opened, and a
// procedure called for an entity that no row can have.
func (d *doctor) objectNeeds() (needs []need, err error) {
	objects, err := migrate.Schema{Prefix: d.tables.Prefix, Resolution: d.tables.Grid.Resolution(), Server: d.tables.Server, Dialect: d.tables.Dialect}.Objects()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		switch name := strings.TrimPrefix(o.Name, d.tables.Prefix); {
		case o.Kind == "view" && d.options.Use != UseOwner && d.mayUse("SELECT", name):
			needs = append(needs, need{"SELECT on {p}" + name, "SHOW COLUMNS FROM {p}" + name})
		case o.Kind == "procedure" && d.options.Use != UseOwner && d.mayUse("EXECUTE", name):
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
