package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	text "prescient/sql"
)

// pending is what the procedure lists for an entity.
func pending(t *testing.T, db text.Querier, name, key string) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "CALL p_pending(?, ?)", name, key)
	rig.Fatal(t, err)
	defer rows.Close()
	for rows.Next() {
		var entityName, entityKey, exec, tag, due, next string
		var checks, errors, putOff int
		var last, payload, expires sql.NullString
		rig.Fatal(t, rows.Scan(&entityName, &entityKey, &exec, &tag, &due, &next, &checks, &errors, &putOff, &last, &payload, &expires))
		list = append(list, fmt.Sprintf("%s/%s %s %s", entityName, entityKey, exec, tag))
	}
	rig.Fatal(t, rows.Err())
	slices.Sort(list)
	return list
}

func TestAnAppOfAnyLanguageListsWhatIsPendingForAnEntity(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		db := r.As("app-sql", time.Time{})
		for _, values := range []string{"'order', '42', 'check', ''", "'order', '42', 'check', 'b'", "'order', '42', 'other', ''", "'order', '43', 'check', ''", "'order', '42 ', 'check', ''"} {
			if _, err := db.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, due_at, payload) VALUES ("+values+", '2026-11-20 13:05:00', '{\"n\":1}')"); err != nil && !strings.Contains(values, "42 '") {
				t.Fatal(err)
			}
		}
		if got := strings.Join(pending(t, db, "order", "42"), ", "); got != "order/42 check , order/42 check b, order/42 other " {
			t.Errorf("%s", got)
		}
		for _, of := range [][2]string{{"order", "4"}, {"ORDER", "42"}, {"order", ""}, {strings.Repeat("x", 255), "42"}} {
			if got := pending(t, db, of[0], of[1]); len(got) != 0 {
				t.Errorf("%q: %s", of, got)
			}
		}
	})
}

// While a transaction of the app that has looked is open, a slot run ends what it saw, and its neighbours.
func TestLookingLocksNothing(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for key := range 20 {
			r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', ?, 'check', '2026-11-20 13:05:00')", fmt.Sprint(key))
		}
		for _, isolation := range []sql.IsolationLevel{sql.LevelRepeatableRead, sql.LevelReadCommitted} {
			tx, err := r.As("app-sql", time.Time{}).BeginTx(context.WithoutCancel(t.Context()), &sql.TxOptions{Isolation: isolation})
			r.Must(err)
			defer tx.Rollback()
			for key := range 20 {
				if got := pending(t, tx, "order", fmt.Sprint(key)); len(got) != 1 {
					t.Errorf("%s: %s", isolation, got)
				}
			}
			for _, statement := range []string{"SELECT COUNT(*) FROM p_future_job FOR SHARE", "SELECT COUNT(*) FROM p_future_job LOCK IN SHARE MODE", "SELECT COUNT(*) FROM p_future_job"} {
				if _, err := tx.ExecContext(t.Context(), statement); err == nil {
					t.Errorf("%s: %s is not refused", isolation, statement)
				}
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM (SELECT 1 FROM p_future_job FOR UPDATE SKIP LOCKED) free"); n != 20 {
			t.Errorf("%d rows of 20 are free", n)
		}
	})
}
