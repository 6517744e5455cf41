package acceptance

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

// rule writes a rule, as it is of a version: what stands in happens is columns and values of rule_version.
func (r *testRig) rule(name string, version int, occasion, state string, says map[string]string) {
	r.T.Helper()
	r.Exec(`INSERT INTO p_rule (name, version, occasion, job_exec, state, since, created_at, updated_at) VALUES (?, ?, ?, 'check', ?, '2026-11-20 12:00:00', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))
		ON DUPLICATE KEY UPDATE version = VALUES(version), state = VALUES(state)`, name, version, occasion, state)
	row := map[string]string{"delay": "3600", "spread": "0", "expires_after": "NULL", "on_pending": "'keep'", "ends": "''", "payload": "NULL"}
	for column, value := range says {
		row[column] = value
	}
	r.Exec(fmt.Sprintf(`INSERT INTO p_rule_version (rule, version, created_at, state, delay, spread, expires_after, on_pending, ends, payload)
		VALUES (?, ?, UTC_TIMESTAMP(6), ?, %s, %s, %s, %s, %s, %s)`, row["delay"], row["spread"], row["expires_after"], row["on_pending"], row["ends"], row["payload"]), name, version, state)
}

// happened is what a report did, in words.
type happened struct{ made, kept, ended int }

func (r *testRig) callHappened(db interface {
	QueryRow(query string, args ...any) *sql.Row
}, occasion string, e prescient.Entity, at time.Time, data any) (h happened, err error) {
	err = db.QueryRow("CALL p_happened(?, ?, ?, ?, ?)", occasion, e.Name, e.Key, at, data).Scan(&h.made, &h.kept, &h.ended)
	return h, err
}

func did(d client.Happened) (h happened) {
	h.ended = d.Ended
	for _, one := range d.Checks {
		if one.Did == client.DidKeep {
			h.kept++
		} else {
			h.made++
		}
	}
	return h
}

func rawOf(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// all is what is pending and ended of an entity, in words.
func (r *testRig) all(e prescient.Entity) string {
	r.T.Helper()
	var pending, ended sql.NullString
	r.Must(r.Root.QueryRow(`SELECT GROUP_CONCAT(CONCAT_WS(' ', job_exec, tag, 'due', due_at, 'first', first_check_at, 'next', next_check_at, check_count, error_count,
		COALESCE(JSON_EXTRACT(payload, '$.a'), 'no a'), COALESCE(JSON_EXTRACT(payload, '$.b'), 'no b'), HEX(RIGHT(job_key, 4)), COALESCE(expires_at, 'never'), COALESCE(rule_version, 'none'), COALESCE(occasion_at, 'none')) ORDER BY job_key SEPARATOR '; ')
		FROM p_future_job WHERE entity_name = ? AND entity_key = ?`, e.Name, e.Key).Scan(&pending))
	r.Must(r.Root.QueryRow(`SELECT GROUP_CONCAT(CONCAT_WS(' ', tag, outcome, due_at) ORDER BY job_key SEPARATOR '; ') FROM p_job_history WHERE entity_name = ? AND entity_key = ?`, e.Name, e.Key).Scan(&ended))
	return pending.String + " | " + ended.String
}

// A report by SQL does what one by the client does, whatever is pending and whatever the rules say.
func TestHappenedDoesWhatTheClientDoes(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		for _, policy := range []string{"keep", "replace", "earlier", "later"} {
			r.rule("r-"+policy, 3, "placed", "on", map[string]string{"delay": "10800", "spread": "7200", "expires_after": "600", "on_pending": "'" + policy + "'", "ends": "'shipped,cancelled'", "payload": `'{"a": 1, "b": {"c": 2}}'`})
		}
		r.rule("s-plain", 1, "placed", "on", nil)
		r.rule("s-off", 2, "placed", "off", map[string]string{"ends": "'shipped'"})
		r.rule("s-chain", 1, "shipped", "on", map[string]string{"delay": "0", "ends": "'placed'"})
		sqlApp, goApp := r.AppAs("app-sql", now), r.AppAs("app-reschedule", now)
		c, err := client.New(t.Context(), goApp, client.Options{Prefix: "p_"})
		r.Must(err)
		reports := []struct {
			occasion, at string
			data         any
		}{{"placed", "12:30", nil}, {"placed", "12:45", `{"a": 2, "b": {"d": null, "e": "ü"}}`}, {"placed", "09:00", `{"b": null}`}, {"placed", "12:10", nil}, {"shipped", "13:00", nil},
			{"cancelled", "13:00", `{}`}, {"nobody.knows", "13:00", nil}}
		ways := []func(occasion string, e prescient.Entity, at time.Time, data any) (happened, error){
			func(occasion string, e prescient.Entity, at time.Time, data any) (happened, error) {
				return r.callHappened(sqlApp, occasion, e, at, data)
			},
			func(occasion string, e prescient.Entity, at time.Time, data any) (happened, error) {
				text, _ := data.(string)
				d, err := c.Happened(t.Context(), goApp, occasion, e, at, rawOf(text))
				return did(d), err
			},
		}
		pending := 0
		for first := range reports {
			for second := range reports {
				e := prescient.Entity{Name: "order", Key: fmt.Sprintf("ü %d-%d", first, second)}
				var became [2]string // by SQL, and by the client
				for by, report := range ways {
					for step, i := range []int{first, second, 4 * (first % 2)} { // at last it is placed, or shipped
						say := reports[i]
						h, err := report(say.occasion, e, rig.At(say.at), say.data)
						r.Must(err)
						became[by] += fmt.Sprintf("%+v; ", h)
						if step == 1 { // of what is pending the app has moved one, which has begun
							r.Exec("UPDATE p_future_job SET due_at = '2026-11-20 12:50:00', next_check_at = '2026-11-20 13:00:00' WHERE entity_key = ? AND tag = 'rule:r-keep'", e.Key)
						}
					}
					became[by] += r.all(e)
					pending += r.Count("SELECT COUNT(*) FROM p_future_job WHERE expires_at = due_at + INTERVAL 10 MINUTE")
					r.Exec("DELETE FROM p_future_job")
					r.Exec("DELETE FROM p_job_history")
				}
				if became[0] != became[1] {
					t.Errorf("%s: by SQL\n%s, by the client\n%s", e, became[0], became[1])
				}
			}
		}
		if pending < 50 {
			t.Errorf("only %d were pending", pending)
		}
	})
}

// A report is part of the caller's transaction, whatever its isolation level, ends what others committed after it began, and locks no rule.
func TestHappenedWorksInTheCallersTransaction(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		r.rule("remind", 1, "placed", "on", map[string]string{"ends": "'shipped'"})
		goApp := r.AppAs("app-reschedule", now)
		c, err := client.New(t.Context(), goApp, client.Options{Prefix: "p_"})
		r.Must(err)
		ways := map[string]struct {
			role   string
			report func(tx *sql.Tx, occasion string, e prescient.Entity) (happened, error)
		}{
			"sql": {"app-sql", func(tx *sql.Tx, occasion string, e prescient.Entity) (happened, error) {
				return r.callHappened(tx, occasion, e, now, nil)
			}},
			"go": {"app", func(tx *sql.Tx, occasion string, e prescient.Entity) (happened, error) {
				d, err := c.Happened(t.Context(), tx, occasion, e, now, nil)
				return did(d), err
			}},
		}
		for name, way := range ways {
			for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
				e := prescient.Entity{Name: "order", Key: name + strings.ReplaceAll(level.String(), " ", "-")}
				db := r.AppAs(way.role, now)
				begin := func() *sql.Tx {
					tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
					r.Must(err)
					var n int
					r.Must(tx.QueryRow("SELECT COUNT(*) FROM p_schedule").Scan(&n)) // its snapshot is of now
					return tx
				}
				pending := func() int { return r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_key = ?", e.Key) }
				tx := begin()
				h, err := way.report(tx, "placed", e)
				r.Must(err)
				// Who changes the rule waits for nobody.
				ctx := t.Context()
				_, err = r.Root.ExecContext(ctx, "UPDATE p_rule SET updated_at = UTC_TIMESTAMP(6) WHERE name = 'remind'")
				r.Must(err)
				r.Must(tx.Rollback())
				if (h != happened{made: 1}) || pending() != 0 {
					t.Errorf("%s, %s: %+v, and %d are pending after the rollback", name, level, h, pending())
				}
				tx = begin()
				other := r.AppAs("app-sql", now)
				_, err = r.callHappened(other, "placed", e, now, nil)
				r.Must(err)
				h, err = way.report(tx, "shipped", e)
				if errno.Is(err, errno.CheckRead) { // MariaDB from 11.6 on refuses that, and has rolled back
					_ = tx.Rollback()
					tx = begin()
					h, err = way.report(tx, "shipped", e)
				}
				r.Must(err)
				if (h != happened{ended: 1}) {
					t.Errorf("%s, %s: what was committed after the snapshot: %+v", name, level, h)
				}
				h, err = way.report(tx, "placed", e)
				r.Must(err)
				r.Must(tx.Commit())
				if (h != happened{made: 1}) || pending() != 1 {
					t.Errorf("%s, %s: made anew: %+v, and %d are pending", name, level, h, pending())
				}
				tx = begin()
				h, err = way.report(tx, "shipped", prescient.Entity{Name: "order", Key: e.Key + "-none"})
				r.Must(err)
				r.Must(tx.Commit())
				if h != (happened{}) || r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_name = 'prescient'") != 0 {
					t.Errorf("%s, %s: an ending that came first: %+v", name, level, h)
				}
			}
		}
	})
}

// What no report may be is refused, by SQL as by the client, with nothing written.
func TestHappenedRefusesWhatCannotBe(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		now := rig.At("13:00")
		r.rule("remind", 1, "placed", "on", nil)
		r.Exec("UPDATE p_rule SET since = '2000-01-01'")
		goApp, sqlApp := r.AppAs("app-reschedule", now), r.AppAs("app-sql", now)
		c, err := client.New(t.Context(), goApp, client.Options{Prefix: "p_"})
		r.Must(err)
		for name, report := range map[string]struct {
			occasion string
			e        prescient.Entity
			at       time.Time
			data     string
		}{
			"an occasion without a name": {"", rig.Order("1"), now, ""},
			"one with a blank":           {"placed ", rig.Order("1"), now, ""},
			"a long one":                 {strings.Repeat("o", 65), rig.Order("1"), now, ""},
			"a schedule":                 {"placed", prescient.Entity{Name: "Schedule", Key: "1"}, now, ""},
			"an entity without a key":    {"placed", prescient.Entity{Name: "order"}, now, ""},
			"before the year 1000":       {"placed", rig.Order("1"), time.Date(999, 1, 1, 0, 0, 0, 0, time.UTC), ""},
			"eleven years ahead":         {"placed", rig.Order("1"), now.AddDate(11, 0, 0), ""},
			"a list":                     {"placed", rig.Order("1"), now, "[1]"},
			"no JSON":                    {"placed", rig.Order("1"), now, "{"},
		} {
			var data any
			if report.data != "" {
				data = report.data
			}
			_, failed := r.callHappened(sqlApp, report.occasion, report.e, report.at, data)
			_, err := c.Happened(t.Context(), goApp, report.occasion, report.e, report.at, rawOf(report.data))
			if failed == nil || err == nil {
				t.Errorf("%s: by SQL %v, by the client %v", name, failed, err)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != 0 {
			t.Errorf("%d are pending", n)
		}
		// Nine years ahead is no error, whatever the horizon.
		h, failed := r.callHappened(sqlApp, "placed", rig.Order("1"), now.AddDate(9, 0, 0), nil)
		d, err := c.Happened(t.Context(), goApp, "placed", rig.Order("2"), now.AddDate(9, 0, 0), nil)
		if failed != nil || err != nil || h.made != 1 || did(d).made != 1 {
			t.Errorf("nine years ahead: %v, %v", failed, err)
		}
	})
}
