package acceptance

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

// inPlain is eachServer with tables in the dialect plain, whatever the tests' setting is.
func inPlain(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Setenv("PRESCIENT_TEST_DIALECT", "plain")
	eachServer(t, test)
}

// app is one without CALL: it sends the statements of sql/plain as they stand there, behind the prefix, and does what the comments say.
type app struct {
	t       *testing.T
	tx      *sql.Tx
	files   map[string][]string // statements by file and name: put look
	between func()              // what somebody else does behind the first look
}

var (
	nameOfStatement = regexp.MustCompile(`(?m)^-- ([a-z]+):`)
	tableOfPlain    = regexp.MustCompile(`\b(future_job|job_history|event_outbox)\b`)
)

// statements reads a file of sql/plain.
func (a *app) statements(file string) {
	a.t.Helper()
	content, err := os.ReadFile("../../../sql/plain/" + file + ".sql")
	rig.Fatal(a.t, err)
	name := file
	for statement := range strings.SplitSeq(strings.TrimSpace(string(content)), ";\n") {
		if found := nameOfStatement.FindAllStringSubmatch(statement, -1); found != nil {
			name = file + " " + found[len(found)-1][1]
		}
		statement = tableOfPlain.ReplaceAllString(strings.TrimSuffix(statement, ";"), "p_$1")
		a.files[name] = append(a.files[name], statement)
	}
}

// exec sends what has a name, and says how many rows the last changed.
func (a *app) exec(name string, args ...any) (changed int64, err error) {
	a.t.Helper()
	if len(a.files[name]) == 0 {
		a.t.Fatalf("nothing is called %s", name)
	}
	for _, statement := range a.files[name] {
		result, err := a.tx.ExecContext(a.t.Context(), statement, args...)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		if changed, err = result.RowsAffected(); err != nil {
			return 0, err
		}
	}
	return changed, nil
}

// rows reads what has a name, as text.
func (a *app) rows(name, more string) (all [][]string, err error) {
	a.t.Helper()
	statements := a.files[name]
	rows, err := a.tx.QueryContext(a.t.Context(), statements[len(statements)-1]+more)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	rig.Fatal(a.t, err)
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		rig.Fatal(a.t, rows.Scan(into...))
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = value.String
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if between := a.between; between != nil {
		a.between = nil
		between()
	}
	return all, nil
}

// begins begins a transaction whose snapshot is of now, with a check and a time to work on: those of the file, where none are given.
func (r *testRig) begins(role string, now time.Time, level sql.IsolationLevel, check prescient.NewJob) *app {
	r.T.Helper()
	a := &app{t: r.T, tx: rig.Begin(r.T, r.AppAs(role, now), level), files: make(map[string][]string)}
	for _, file := range []string{"check", "put", "reschedule", "cancel", "pending", "ended", "publish"} {
		a.statements(file)
	}
	var n int
	r.Must(a.tx.QueryRow("SELECT COUNT(*) FROM p_slot_config").Scan(&n))
	_, err := a.exec("check names")
	r.Must(err)
	if check.Entity.Name != "" {
		_, err = a.tx.Exec("SET @entity_name = ?, @entity_key = ?, @job_exec = ?, @tag = ?, @due_at = ?, @payload = ?", check.Entity.Name, check.Entity.Key,
			check.JobExec, check.Tag, check.DueAt.Format("2006-01-02 15:04:05.000000"), sql.NullString{String: string(check.Payload), Valid: check.Payload != nil})
		r.Must(err)
	}
	for _, name := range []string{"check keys", "check slot"} {
		_, err = a.exec(name)
		r.Must(err)
	}
	return a
}

// put says what it did.
func (a *app) put(policy prescient.OnPending) (did string, err error) {
	a.t.Helper()
	if policy == prescient.OnPendingError {
		_, err = a.exec("put insert")
		return "inserted", err
	}
	if _, err := a.exec("put"); err != nil {
		return "", err
	}
	if _, err := a.tx.Exec("SET @on_pending = ?", string(policy)); err != nil {
		return "", err
	}
	lock := ""
	for range 10 {
		seen, err := a.rows("put look", lock)
		if err != nil {
			return "", err
		}
		lock = " FOR UPDATE"
		if len(seen) == 0 {
			if _, err = a.exec("put insert"); !errno.Is(err, errno.DuplicateKey) {
				return "inserted", err
			}
			continue
		}
		if _, err := a.exec("put seen", seen[0][0], seen[0][1]); err != nil {
			return "", err
		}
		if seen[0][3] == "1" {
			if still, err := a.rows("put stay", ""); err != nil || len(still) == 1 {
				return "kept", err
			}
		} else if n, err := a.exec("put replace"); err != nil || n == 1 {
			return "replaced", err
		}
	}
	return "", fmt.Errorf("ten looks were in vain")
}

func (a *app) reschedule() (did string, err error) {
	a.t.Helper()
	lock := ""
	for range 10 {
		seen, err := a.rows("reschedule look", lock)
		if err != nil {
			return "", err
		}
		if len(seen) == 0 {
			if _, err = a.exec("reschedule absent"); err == nil {
				_, err = a.exec("reschedule away")
			}
			if !errno.Is(err, errno.DuplicateKey) {
				return "absent", err
			}
		} else {
			if _, err := a.exec("reschedule seen", seen[0][0], seen[0][1]); err != nil {
				return "", err
			}
			if n, err := a.exec("reschedule move"); err != nil || n == 1 {
				return "rescheduled", err
			}
		}
		lock = " FOR UPDATE"
	}
	return "", fmt.Errorf("ten looks were in vain")
}

// cancel says how many it ended.
func (a *app) cancel() (ended int, err error) {
	a.t.Helper()
	end := func(found [][]string) (missed bool, err error) {
		for _, row := range found {
			if _, err := a.exec("cancel seen", row[0], row[1], row[2]); err != nil {
				return false, err
			}
			n, err := a.exec("cancel copy")
			if err != nil {
				return false, err
			}
			if n == 0 {
				missed = true
				continue
			}
			if n, err := a.exec("cancel gone"); err != nil || n != 1 {
				return false, fmt.Errorf("%d rows went: %w", n, err)
			}
			ended++
		}
		return missed, nil
	}
	found, err := a.rows("cancel look", "")
	if err != nil {
		return 0, err
	}
	if _, err := end(found); err != nil {
		return 0, err
	}
	if _, err := a.exec("cancel ends"); err != nil {
		return 0, err
	}
	if found, err = a.rows("cancel lock", ""); err != nil {
		return 0, err
	}
	if _, err := a.exec("cancel away"); err != nil {
		return 0, err
	}
	if missed, err := end(found); err != nil || missed {
		return 0, fmt.Errorf("what is locked was missed: %t, %w", missed, err)
	}
	return ended, nil
}

// whole is all that a row of a table has but the names of its entity, what goes by those, and the revision, which is random. It is sorted.
func (r *testRig) whole(table string, e prescient.Entity) string {
	r.T.Helper()
	columns := `job_exec, '.', tag, 'due', due_at, 'first', first_check_at, 'next', next_check_at, check_count, error_count, put_off_count, COALESCE(last_error, 'none'),
		total_ms, COALESCE(payload, 'none'), 'inserted', inserted_at, COALESCE(expires_at, 'never'), HEX(RIGHT(job_key, 4)), LENGTH(revision) > 9`
	if table == "p_job_history" {
		columns += ", slot, outcome, COALESCE(error, 'none'), COALESCE(started_at, 'not'), ended_at, run_ms, COALESCE(lateness_ms, 'none'), worker"
	} else {
		columns += ", COALESCE(trace, 'none'), COALESCE(rule_version, 'none'), COALESCE(occasion_at, 'none')"
	}
	var rows sql.NullString
	r.Must(r.Root.QueryRow("SELECT GROUP_CONCAT(CONCAT_WS(' ', "+columns+") ORDER BY job_exec SEPARATOR '; ') FROM "+table+" WHERE entity_name = ? AND entity_key = ?",
		e.Name, e.Key).Scan(&rows))
	return rows.String
}

// revision is that of the one row that is pending, or 0.
func (r *testRig) revision(e prescient.Entity) (revision uint64) {
	r.T.Helper()
	r.Must(r.Root.QueryRow("SELECT CAST(COALESCE(MAX(revision), 0) AS UNSIGNED) FROM p_future_job WHERE entity_name = ? AND entity_key = ?", e.Name, e.Key).Scan(&revision))
	return revision
}

var bothLevels = []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead}

// level is the name of an isolation level, as a key.
func level(l sql.IsolationLevel) string { return strings.ReplaceAll(l.String(), " ", "-") }

// What the statements of plain put is what the client puts, by each of its policies, whatever is pending.
func TestPlainStatementsPutWhatTheClientDoes(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		now := rig.At("13:00")
		for _, was := range []string{"", "12:50", "13:10", "13:40"} { // what is pending is due then, or nothing is
			for _, policy := range []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later, prescient.OnPendingError} {
				for i, due := range []string{"12:00", "13:20:00.000001", "13:40", "13:50"} {
					key := strings.Join([]string{was, string(policy), due, "é"}, " ")
					by := []prescient.Entity{{Name: "sql", Key: key}, {Name: "go", Key: key}}
					job := prescient.NewJob{Entity: by[0], JobExec: "check", Tag: "ü", DueAt: rig.At(due), Payload: []byte(`{"new": "ü"}`), OnPending: policy}
					if was != "" {
						for _, e := range by {
							r.Insert(rig.At("12:30"), prescient.NewJob{Entity: e, JobExec: "check", Tag: "ü", DueAt: rig.At(was), Payload: []byte(`{"old": 1}`), ExpiresAfter: time.Hour, Trace: trace})
							r.Exec("UPDATE p_future_job SET check_count = 3, last_error = 'before', rule_version = 7, occasion_at = due_at WHERE entity_name = ? AND entity_key = ?", e.Name, e.Key)
						}
					}
					before := r.revision(by[0])
					app := r.begins("app-reschedule", now, bothLevels[i%2], job)
					did, failed := app.put(policy)
					if failed == nil {
						r.Must(app.tx.Commit())
					} else {
						r.Must(app.tx.Rollback())
					}
					job.Entity = by[1]
					want, err := r.Client.Insert(t.Context(), r.AppAt(now), job)
					if (failed == nil) != (err == nil) || err == nil && did != string(want.Did) {
						t.Errorf("%s: by SQL %s (%v), by the client %s (%v)", key, did, failed, want.Did, err)
						continue
					}
					if is, want := r.whole("p_future_job", by[0]), r.whole("p_future_job", by[1]); is != want || is == "" {
						t.Errorf("%s: by SQL %s, by the client %s", key, is, want)
					}
					if after := r.revision(by[0]); (after == before) != (did == "kept" || failed != nil) {
						t.Errorf("%s: %s: revision %d, before %d", key, did, after, before)
					}
				}
			}
		}
	})
}

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// What they move and cancel is what the client moves and cancels, and what they list is there.
func TestPlainStatementsMoveEndAndListWhatTheClientDoes(t *testing.T) {
	inPlain(t, func(t *testing.T, r *testRig) {
		now := rig.At("13:00")
		for _, at := range bothLevels {
			by := []prescient.Entity{{Name: "sql", Key: level(at)}, {Name: "go", Key: level(at)}}
			for _, e := range by {
				for i, exec := range []string{"check", "remind"} {
					r.Insert(rig.At("12:30"), prescient.NewJob{Entity: e, JobExec: exec, DueAt: rig.At("13:10"), Payload: []byte(`{"a": 1}`), ExpiresAfter: time.Duration(i) * time.Hour})
				}
				r.Exec("UPDATE p_future_job SET check_count = 3, last_error = 'before', total_ms = 9 WHERE entity_name = ? AND entity_key = ?", e.Name, e.Key)
			}
			for _, due := range []string{"12:00", "14:10:00.000001"} {
				app := r.begins("app-reschedule", now, at, prescient.NewJob{Entity: by[0], JobExec: "remind", DueAt: rig.At(due)})
				if did, err := app.reschedule(); err != nil || did != "rescheduled" {
					t.Errorf("%s, %v", did, err)
				}
				r.Must(app.tx.Commit())
				_, err := r.Client.Reschedule(t.Context(), r.AppAt(now), by[1], "remind", "", rig.At(due))
				r.Must(err)
				if is, want := r.whole("p_future_job", by[0]), r.whole("p_future_job", by[1]); is != want || !strings.Contains(is, "; ") {
					t.Errorf("%s: by SQL %s, by the client %s", at, is, want)
				}
			}
			looks := r.begins("app-sql", now, at, prescient.NewJob{Entity: by[0], JobExec: "check"})
			if found, err := looks.rows("pending", ""); err != nil || len(found) != 2 || found[0][1] != level(at) {
				t.Errorf("%s: pending are %v, %v", at, found, err)
			}
			for _, exec := range []string{"check", ""} {
				app := r.begins("app", now, at, prescient.NewJob{Entity: by[0], JobExec: exec})
				if exec == "" {
					_, err := app.tx.Exec("SET @job_exec = NULL")
					r.Must(err)
				}
				if n, err := app.cancel(); err != nil || n != 1 {
					t.Errorf("%s: cancelled %d, %v", exec, n, err)
				}
				r.Must(app.tx.Commit())
			}
			if n, err := r.Client.Cancel(t.Context(), r.AppAt(now), by[1]); err != nil || n != 2 {
				t.Errorf("cancelled %d, %v", n, err)
			}
			if is, want := r.whole("p_job_history", by[0]), r.whole("p_job_history", by[1]); is != want || strings.Count(is, "cancelled") != 2 {
				t.Errorf("%s: by SQL %s, by the client %s", at, is, want)
			}
			looks = r.begins("app-sql", now, at, prescient.NewJob{Entity: by[0], JobExec: "check"})
			if found, err := looks.rows("ended", ""); err != nil || len(found) != 2 || found[0][6] != "cancelled" {
				t.Errorf("%s: ended are %v, %v", at, found, err)
			}
			if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != 0 {
				t.Errorf("%d are pending", n)
			}
		}
	})
}
