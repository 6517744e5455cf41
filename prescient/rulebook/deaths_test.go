package rulebook_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/rule"
)

// dying is a transaction of a process that dies before one of its statements.
type dying struct {
	tx   *sqlx.Tx
	left int
	kill func()
}

func (d *dying) next() {
	if d.left--; d.left == -1 {
		d.kill()
	}
}

func (d *dying) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	d.next()
	return d.tx.ExecContext(ctx, query, args...)
}

func (d *dying) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	d.next()
	return d.tx.QueryContext(ctx, query, args...)
}

// Whoever changes a rule dies before each statement of the change, and before its COMMIT, in turn: the rule is as it was, with all that it said, and its
// checks with it. Then the change is made, its process dies before it has moved anything, and another moves what is pending.
func TestARuleWhoseChangeDiesIsAsItWas(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		r.report(3, r.now.Add(time.Hour))
		later := remind
		later.Delay = 5 * time.Hour
		made := remind
		made.Name = "made"
		is := func(what string, version, versions, audited int) {
			t.Helper()
			for query, want := range map[string]int{"SELECT MAX(version) FROM p_rule": version, "SELECT COUNT(*) FROM p_rule_version": versions, "SELECT COUNT(*) FROM p_audit_log WHERE kind = 'rule'": audited,
				"SELECT COUNT(*) FROM p_future_job WHERE rule_version = 1": 3} {
				if n := r.Count(query); n != want {
					t.Errorf("%s: %s: %d; want %d", what, query, n, want)
				}
			}
		}
		for what, change := range map[string]func(ctx context.Context, db *dying) error{
			"a change": func(ctx context.Context, db *dying) error {
				_, _, err := r.book.Put(ctx, db, later, 1, rule.Move)
				return err
			},
			"one that is made": func(ctx context.Context, db *dying) error {
				_, err := r.book.Create(ctx, db, made)
				return err
			},
			"one that is deleted": func(ctx context.Context, db *dying) error { return r.book.Delete(ctx, db, "remind", rule.End) },
		} {
			statements := 0
			for over := false; !over; statements++ {
				tx, err := r.db.BeginTxx(t.Context(), nil)
				r.Must(err)
				var id int
				r.Must(tx.GetContext(t.Context(), &id, "SELECT CONNECTION_ID()"))
				d := &dying{tx, statements, func() { r.Exec(fmt.Sprintf("KILL %d", id)) }}
				err = change(t.Context(), d)
				if over = d.left >= 0; over {
					r.Must(err)
					d.kill() // before the COMMIT
					err = tx.Commit()
				}
				if err == nil {
					t.Errorf("%s: before statement %d nobody died", what, statements)
				}
				_ = tx.Rollback()
				is(fmt.Sprintf("%s, dead before statement %d", what, statements), 1, 1, 1)
			}
			if statements < 6 {
				t.Errorf("%s has %d statements", what, statements)
			}
		}
		_, _, err := r.book.Put(t.Context(), r.db, later, 1, rule.Move)
		r.Must(err)
		is("changed", 2, 2, 2)
		r.Must(r.book.Work(t.Context(), r.db, "another"))
		if n := r.Count(fmt.Sprintf("SELECT COUNT(*) FROM p_future_job WHERE rule_version = 2 AND due_at = '%s'", r.now.Add(6*time.Hour).Format("2006-01-02 15:04:05"))); n != 3 {
			t.Errorf("%d checks were moved", n)
		}
	})
}
