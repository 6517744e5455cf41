package schedule_test

import (
	"fmt"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

// What an app wrote into the row of a schedule by plain SQL, before CHECKs held that: others fire, lists have it, and it can be paused, changed and deleted.
func TestWhatPlainSQLWritesOfASchedulesRowStopsNobody(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		ctx := t.Context()
		r.Unchecked("p_schedule")
		c, err := r.AppAs("app", rig.At("11:50")).Conn(ctx)
		r.Must(err)
		defer c.Close()
		_, err = c.ExecContext(ctx, "SET sql_mode = 'ALLOW_INVALID_DATES'")
		r.Must(err)
		var ids []string
		for set, due := range map[string]bool{ // whether it fires all the same
			"created_at = '0000-00-00'": true, "created_at = '2026-00-01'": true, "created_at = '2026-02-31'": true, "updated_at = '0000-00-00'": true, "disabled_at = '0000-00-00'": true,
			"by_hand_at = '0000-00-00'": true, "enabled = 127": true, "may_coalesce = -1": true, "is_long = 2, job_exec = 'none'": false,
			"version = 4294967295": true, "passed_over = 4294967295": true, "caught_up = 4294967295": true, "zone = 'Local'": false, "crontabs = '\n'": false,
			"job_exec = '', topic = 'a b'": false, "job_exec = 'steps.run'": false, "utc_offset = -2147483648": true,
		} {
			id := fmt.Sprint("bad-", len(ids))
			r.create("11:50", schedule.Schedule{ID: id, Crontabs: []string{"*/15 * * * *"}, JobExec: "digest"})
			_, err := c.ExecContext(ctx, "UPDATE p_schedule SET "+set+" WHERE id = ?", id)
			r.Must(err)
			if ids = append(ids, id); due {
				defer func() {
					if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = ? AND outcome = 'done' AND due_at < '2026-11-20 12:16'", id); n != 2 {
						t.Errorf("%s: fired %d times", set, n)
					}
				}()
			}
		}
		r.create("11:50", schedule.Schedule{ID: "a", Crontabs: []string{"*/15 * * * *"}, Topic: "t"})
		r.run("12:00")
		r.run("12:15")
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE event_key = 'a'"); n != 2 {
			t.Errorf("%d events; want 2", n)
		}
		all, err := r.schedules.List(ctx, r.app("12:16"), schedule.Filter{})
		r.Must(err)
		if len(all) != len(ids)+1 {
			t.Errorf("%d are listed", len(all))
		}
		for _, id := range ids {
			if _, err := r.schedules.Get(ctx, r.app("12:16"), id); err != nil {
				t.Errorf("get %s: %v", id, err)
			}
			if _, err := r.schedules.Pause(ctx, r.app("12:16"), id); err != nil {
				t.Errorf("pause %s: %v", id, err)
			}
			if _, err := r.schedules.Update(ctx, r.app("12:16"), schedule.Schedule{ID: id, Crontabs: []string{"*/30 * * * *"}, JobExec: "digest"}); err != nil {
				t.Errorf("update %s: %v", id, err)
			}
			if n, err := r.schedules.Delete(ctx, r.app("12:16"), id); err != nil || n != 1 {
				t.Errorf("delete %s: %d %v", id, n, err)
			}
		}
	})
}
