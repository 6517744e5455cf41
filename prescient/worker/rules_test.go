package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

// rule writes a rule of an hour's delay, and the versions that it had before, by their delays in seconds.
func (r *testRig) rule(name string, movedTo, endedTo int, delays ...int) {
	r.T.Helper()
	state := "on"
	if endedTo > 0 {
		state = "off"
	}
	r.Exec(`INSERT INTO p_rule (name, version, occasion, job_exec, state, since, moved_to, ended_to, created_at, updated_at)
		VALUES (?, ?, 'placed', 'check', ?, '2026-11-20', ?, ?, '2026-11-20', '2026-11-20')`, name, len(delays), state, movedTo, endedTo)
	for i, delay := range delays {
		r.Exec(`INSERT INTO p_rule_version (rule, version, created_at, state, delay, spread, expires_after, on_pending, ends, max_errors)
			VALUES (?, ?, '2026-11-20', ?, ?, 0, 7200, 'keep', '', -1)`, name, i+1, state, delay)
	}
}

// A check whose rule has been changed since is moved where its time comes later by now, called at once where that is over, ended where the rule was switched
// off with its checks, and left alone where somebody else has moved it.
func TestAStragglerOfAnOldVersionIsMovedAndNotCalled(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for form, registry := range formsOf(t, new(called), prescient.Guards{}) {
			r.unrun()
			r.Exec("DELETE FROM p_long_run")
			r.Exec("DELETE FROM p_rule")
			r.Exec("DELETE FROM p_rule_version")
			r.rule("later", 2, 0, 3600, 4*3600)
			r.rule("sooner", 2, 0, 3600, 1800)
			r.rule("left", 0, 0, 3600, 4*3600)
			r.rule("off", 0, 2, 3600, 3600)
			at := rig.At("12:00")
			insert := func(name, key string, version uint32) {
				r.Insert(rig.At("12:01"), prescient.NewJob{Entity: rig.Order(key), JobExec: "check", Tag: "rule:" + name, DueAt: at.Add(time.Hour), ExpiresAfter: 2 * time.Hour,
					RuleVersion: version, OccasionAt: at})
			}
			for _, name := range []string{"later", "sooner", "left", "off"} {
				insert(name, name, 1)
			}
			insert("later", "current", 2)
			insert("later", "unknown", 7)
			insert("gone", "gone", 1)
			insert("later", "moved by the app", 1)
			insert("later", "no date", 1)
			insert("later", "long run", 1)
			insert("later", "called", 1)
			r.Exec("UPDATE p_future_job SET due_at = '2026-11-20 12:59:00' WHERE entity_key = 'moved by the app'")
			r.Exec("UPDATE p_future_job SET occasion_at = NULL WHERE entity_key = 'no date'")
			r.Exec("UPDATE p_future_job SET error_count = 1 WHERE entity_key = 'called'")
			r.Exec(`INSERT INTO p_long_run (job_key, token, slot, due_at, inserted_at, check_count)
				SELECT job_key, 1, next_check_at, due_at, inserted_at, 0 FROM p_future_job WHERE entity_key = 'long run'`)
			f := r.runAt(rig.At("13:00"), registry, Options{})
			ended := r.Tally("SELECT CONCAT(entity_key, ' ', outcome), COUNT(*) FROM p_job_history GROUP BY 1")
			want := []string{"sooner done", "left done", "off cancelled", "current done", "unknown done", "gone done", "moved by the app done", "no date done", "long run done", "called done"}
			for _, one := range want {
				if ended[one] != 1 {
					t.Errorf("%s: %q is missing: %v", form, one, ended)
				}
			}
			var left string
			r.Must(r.Root.QueryRow("SELECT CONCAT_WS(' ', entity_key, due_at, next_check_at, expires_at, rule_version, check_count, error_count) FROM p_future_job").Scan(&left))
			if left != "later 2026-11-20 16:00:00.000000 2026-11-20 16:00:00 2026-11-20 18:00:00.000000 2 0 0" || len(ended) != len(want) {
				t.Errorf("%s: %s is left; %v", form, left, ended)
			}
			if f.LateByRule != 1 || f.PutOff != 1 || f.Done != len(want)-1 {
				t.Errorf("%s: %+v", form, f)
			}
			r.Balanced()
			f = r.runAt(rig.At("16:00"), registry, Options{})
			if f.Done != 1 || r.Count("SELECT COUNT(*) FROM p_future_job") != 0 {
				t.Errorf("%s: at its new time: %+v", form, f)
			}
		}
	})
}

// The guards of a rule come before those of the job_exec.
func TestARuleHasGuardsOfItsOwn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.rule("strict", 0, 0, 3600)
		for _, tag := range []string{"rule:strict", ""} {
			job := prescient.NewJob{Entity: rig.Order("o" + tag), JobExec: "check", Tag: tag, DueAt: rig.At("13:00")}
			if tag != "" {
				job.RuleVersion, job.OccasionAt = 1, rig.At("12:00")
			}
			r.Insert(rig.At("12:01"), job)
		}
		registry := prescient.NewRegistry()
		r.Must(registry.Register("check", func(_ context.Context, _ prescient.FutureJob) (*time.Time, error) { return nil, errors.New("no luck") }, prescient.Guards{}))
		f := r.runAt(rig.At("13:00"), registry, Options{})
		if f.Failed != 1 || f.Moved != 1 {
			t.Errorf("%+v", f)
		}
	})
}

// A worker that may not read the rules calls none of their checks, and all others.
func TestChecksOfRulesWaitWhereTheRulesCannotBeRead(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.rule("later", 2, 0, 3600, 4*3600)
		r.Insert(rig.At("12:01"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", Tag: "rule:later", DueAt: rig.At("13:00"), RuleVersion: 1, OccasionAt: rig.At("12:00")})
		r.Insert(rig.At("12:01"), prescient.NewJob{Entity: rig.Order("2"), JobExec: "check", DueAt: rig.At("13:00")})
		h := new(rig.Hooks)
		h.OnStatement(func(statement string) error {
			if strings.Contains(statement, "p_rule ") {
				return &mysql.MySQLError{Number: errno.TableDenied}
			}
			return nil
		})
		c := new(called)
		f, err := r.hookedWorker(rig.At("13:00"), h, formsOf(t, c, prescient.Guards{})["Func"], Options{}).Run(t.Context())
		r.Must(err)
		if f.Done != 1 || f.PutOff != 1 || fmt.Sprint(c) != "2" {
			t.Errorf("%+v, %s was called", f, c)
		}
	})
}
