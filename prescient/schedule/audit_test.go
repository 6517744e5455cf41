package schedule_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

// entries are what the audit has of a schedule, the first of them first: who, what, and what became of it.
func (r *testRig) entries(id string) (all []string) {
	r.T.Helper()
	log, err := audit.Open(r.T.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	found, err := log.List(r.T.Context(), r.As("operator", time.Time{}), audit.Filter{Kind: audit.Schedule, ID: id})
	r.Must(err)
	for _, e := range found {
		account, _, _ := strings.Cut(strings.TrimPrefix(e.Account, r.User("")), "@")
		all = append([]string{strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s v%d %s %s", account, e.Person, e.Command, e.Verb, e.Version, e.Before, e.After)), " ")}, all...)
	}
	return all
}

func wantEntries(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// as is a context of a person.
func as(t *testing.T, person string) context.Context {
	return audit.With(t.Context(), audit.By{Person: person, Reason: "a test"})
}

func TestEachChangeOfAScheduleLeavesItsEntry(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Accounts)
		ctx, minute := as(t, "Ada"), 0
		app := func() prescient.DB { // each change is later than the one before
			minute++
			return r.app(fmt.Sprintf("10:%02d", minute-1))
		}
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 12 * * *"}, Topic: "t", Payload: []byte("{}")}
		_, err := r.schedules.Create(ctx, app(), one)
		r.Must(err)
		_, err = r.schedules.Create(ctx, app(), one) // there already: no change
		r.Must(err)
		r.Did(r.schedules.Pause(ctx, app(), "a"))
		r.Did(r.schedules.Pause(ctx, app(), "a"))
		r.Did(r.schedules.Resume(ctx, app(), "a"))
		r.Did(r.schedules.Resume(ctx, app(), "a"))
		run, err := r.schedules.RunNow(ctx, app(), "a")
		r.Must(err)
		one.Zone, one.Owner = "Europe/Berlin", rig.Order("7")
		_, err = r.schedules.Update(ctx, app(), one)
		r.Must(err)
		_, err = r.schedules.Update(ctx, app(), one)
		r.Must(err)
		_, _, err = r.schedules.Edit(ctx, app(), "a", func(s *schedule.Schedule) error { s.Payload = []byte(strings.Repeat("x", 5000)); return nil })
		r.Must(err)
		_, err = r.schedules.Delete(ctx, app(), "a", "none")
		r.Must(err)
		_, _, err = r.schedules.Put(ctx, app(), []schedule.Wanted{{Schedule: one}}, true)
		r.Must(err)
		_, _, err = r.schedules.Put(ctx, app(), []schedule.Wanted{{Schedule: one, Paused: true}}, true)
		r.Must(err)
		_, err = r.schedules.DeleteOwner(ctx, app(), rig.Order("7"))
		r.Must(err)
		by := "app-reschedule Ada "
		first := `{"crontabs":["0 12 * * *"],"zone":"UTC","topic":"t","payload":"{}","catch_up":"once","enabled":true}`
		second := `{"crontabs":["0 12 * * *"],"zone":"Europe/Berlin","topic":"t","owner":"order/7","payload":"{}","catch_up":"once","enabled":true}`
		long := `{"crontabs":["0 12 * * *"],"zone":"Europe/Berlin","topic":"t","owner":"order/7","payload":{"bytes":5000,` +
			`"sha256":"9d3beadeb93be51e3e4ab14e6c7ce95ce5ad2d7ad03ea7c5ae6c4f0bbfbe7e5a"},"catch_up":"once","enabled":true}`
		got := r.entries("a")
		for i := range got { // the digest is told twice, by this program and by the server: they are to be one
			if at := strings.Index(got[i], `"sha256":"`); at >= 0 {
				long = strings.Replace(long, long[strings.Index(long, `"sha256":"`):strings.Index(long, `"},`)], got[i][at:at+10+64], 1)
			}
		}
		wantEntries(t, "a", got,
			by+"create v1 "+first,
			by+`pause v2 {"enabled":true} {"enabled":false}`,
			by+`resume v3 {"enabled":false} {"enabled":true}`,
			by+`run v3 {"occurrence":"`+run+`"}`,
			by+"update v4 "+first+" "+second,
			by+"update v5 "+second+" "+long,
			by+"delete v6 "+long,
			by+"create v1 "+second,
			by+`pause v2 {"enabled":true} {"enabled":false}`,
			by+"delete v3 "+strings.Replace(second, "true", "false", 1))
	})
}

func TestAChangeThatIsRolledBackLeavesNoEntry(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 12 * * *"}, Topic: "t"}
		tx := rig.Begin(t, r.app("10:00"), sql.LevelDefault)
		_, err := r.schedules.Create(t.Context(), tx, one)
		r.Must(err)
		r.Must(tx.Rollback())
		wantEntries(t, "rolled back by the app", r.entries("a"))
		// And nothing of one that failed, though the app commits.
		tx = rig.Begin(t, r.app("10:00"), sql.LevelDefault)
		if _, err := r.schedules.CreateMany(t.Context(), tx, []schedule.Schedule{one, {ID: "b", Crontabs: []string{"0 0 30 2 *"}, Topic: "t"}}); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
		r.Must(tx.Commit())
		wantEntries(t, "failed", r.entries("a"))
	})
}

func TestASchedulePlainSQLInsertedHasItsEntryFromItsTimer(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Accounts)
		r.Needs(t, rig.ColumnDefaults)
		for _, crontab := range []string{"0 12 * * *", "61 * * * *"} {
			r.Exec("INSERT INTO p_schedule (id, crontabs, job_exec, payload, created_at) VALUES ('" + crontab + "', '" + crontab + "', 'digest', REPEAT('x', 1025), '2026-11-20 10:00:00')")
			r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('schedule', '" + crontab + "', 'schedule.fire', '2026-11-20 10:10:00')")
		}
		r.run("10:15")
		got := r.entries("0 12 * * *")
		if len(got) != 1 || !strings.HasPrefix(got[0], `worker timer accept v1 {"crontabs":["0 12 * * *"],"zone":"UTC","job_exec":"digest","payload":{"bytes":1025,"sha256":"`) {
			t.Errorf("accepted: %q", got)
		}
		got = r.entries("61 * * * *")
		if len(got) != 1 || !strings.HasPrefix(got[0], `worker timer refuse v1 {"crontabs":["61 * * * *"]`) || !strings.Contains(got[0], `"enabled":false,"disabled_reason":"schedule `) {
			t.Errorf("refused: %q", got)
		}
		r.run("12:00")
		// What a timer fires is no change.
		if got := r.entries("0 12 * * *"); len(got) != 1 {
			t.Errorf("fired: %q", got)
		}
	})
}

func TestTheProcedureThatDeletesLeavesEntries(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StoredProcedures)
		for _, id := range []string{"a", "O'Brien \"🚢\" \\"} {
			r.create("10:00", schedule.Schedule{ID: id, Crontabs: []string{"0 12 * * *", "@daily"}, JobExec: "digest", Payload: []byte("\xff\x00"), Owner: rig.Order("7")})
		}
		for _, isolation := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
			db := r.AppAs("app-sql", rig.At("10:05"))
			tx := rig.Begin(t, db, isolation)
			var n int
			r.Must(tx.QueryRow("CALL p_delete_schedules('order', '7')").Scan(&n))
			r.Must(tx.Rollback())
			if len(r.entries("a")) != 1 || n != 2 {
				t.Errorf("rolled back: %d, %q", n, r.entries("a"))
			}
		}
		r.Did(r.schedules.Pause(as(t, "Ada"), r.app("10:02"), "a"))
		var n int
		r.Must(r.AppAs("app-sql", rig.At("10:05")).QueryRow("CALL p_delete_schedules('order', '7')").Scan(&n))
		for _, id := range []string{"a", "O'Brien \"🚢\" \\"} {
			got := r.entries(id)
			last, version := got[len(got)-1], map[bool]string{true: "3", false: "2"}[id == "a"]
			if !strings.HasPrefix(last, "app-sql CALL delete_schedules delete v"+version+" {") {
				t.Errorf("%q", got)
			}
			var before map[string]any
			r.Must(json.Unmarshal([]byte(strings.TrimPrefix(last, "app-sql CALL delete_schedules delete v"+version+" ")), &before))
			if before["crontabs"] != "0 12 * * *\n@daily" || before["owner"] != "order/7" || before["payload_bytes"] != 2.0 || before["job_exec"] != "digest" {
				t.Errorf("%v", before)
			}
		}
	})
}
