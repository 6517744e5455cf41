package schedule_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	text "prescient/sql"
)

// Five statements for each transaction, and what a bucket takes beside them: two for its lease, and its reads. That is six for 500 timers at
// most, unless the machine is so busy that transactions take long, and have fewer rows for it.
func TestASlotOfTimersTakesAtMostSixStatementsFor500(t *testing.T) {
	for name, fires := range map[string]schedule.Schedule{"events": {Topic: "t"}, "runs": {JobExec: "digest"}} {
		t.Run(name, func(t *testing.T) {
			eachFlavour(t, func(t *testing.T, r *testRig) {
				const many = 10_000
				for part := range 2 {
					some := make([]schedule.Schedule, many/2)
					for i := range some {
						some[i] = fires
						some[i].ID, some[i].Crontabs = fmt.Sprintf("%d-%d", part, i), []string{"0 * * * *"}
					}
					_, err := r.schedules.CreateMany(t.Context(), r.app("10:00"), some)
					r.Must(err)
				}
				// The runs that are due with the timers are checks like any other.
				r.Exec("DELETE FROM p_future_job WHERE job_exec = 'digest'")
				var hooks rig.Hooks
				w := r.HookedWorker(rig.At("11:00").Add(time.Second), &hooks, r.registry, worker.Options{})
				before := len(hooks.Log)
				began := time.Now()
				_, err := w.Run(t.Context())
				took := time.Since(began)
				r.Must(err)
				if n := len(r.events()) + r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'digest'"); n != many {
					t.Fatalf("%d events and runs", n)
				}
				kinds := make(map[string]int)
				work := 0
				for _, statement := range hooks.Log[before:] {
					words := strings.Fields(statement)
					kinds[strings.Join(words[:min(len(words), 4)], " ")]++
					switch words[0] {
					case "SELECT", "INSERT", "UPDATE", "DELETE":
						work++
					}
				}
				buckets := kinds["UPDATE p_slot_run SET finished_at"]
				// These come by the clock: the longer it takes, the more of them.
				byTime := kinds["UPDATE p_slot_run SET allocated_until"] + kinds["SELECT UTC_TIMESTAMP(6), EXISTS (SELECT"] + kinds["SELECT bucket, buckets, token,"]
				known := kinds["SELECT job_exec, fingerprint FROM"] + kinds["INSERT INTO p_exec_known (job_exec,"] // once an hour
				ours := work - 2*buckets - kinds["SELECT entity_name, entity_key, job_exec,"] - byTime - known
				if rest := ours - 6*kinds["BEGIN"]; rest > 6 {
					t.Errorf("%d statements beside transactions of six, leases, looks and reads: %v", rest, kinds)
				}
				// A run begins with small transactions, and has larger ones when it has to hurry.
				if most := 6*many/500 + 6; ours > most && took < 2*time.Second {
					t.Errorf("%d statements for %d timers in %s, beside leases, looks and reads: %v", ours, many, took, kinds)
				}
			})
		})
	}
}

// The isolation, BEGIN, a look, three inserts and COMMIT; in plain the time is asked for by itself.
func TestAScheduleIsCreatedBySevenStatements(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		app := r.app("10:00")
		app.SetMaxOpenConns(1)
		_, err := r.schedules.Create(t.Context(), app, schedule.Schedule{ID: "first", Crontabs: []string{"0 * * * *"}, Topic: "t"})
		r.Must(err)
		sent := func() (n int) {
			var name string
			r.Must(app.QueryRow("SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n))
			return n
		}
		want := 7
		if r.Dialect == text.Plain {
			want++
		}
		before := sent()
		created, err := r.schedules.Create(t.Context(), app, schedule.Schedule{ID: "second", Crontabs: []string{"0 * * * *"}, JobExec: "digest"})
		r.Must(err)
		if n := sent() - before - 1; n != want || !created {
			t.Errorf("%d statements, created %v; want %d", n, created, want)
		}
	})
}

// Of two who create the same at once one does, and the other finds it there.
func TestTwoWhoCreateTheSameAtOnceBothSucceed(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const many = 40
		some := make([]schedule.Schedule, many)
		for i := range some {
			some[i] = schedule.Schedule{ID: fmt.Sprintf("s%02d", i), Crontabs: []string{"0 * * * *"}, Topic: "t"}
		}
		app := r.app("10:00")
		var by [4]int
		var all sync.WaitGroup
		for i := range by {
			all.Go(func() {
				for at := range some { // overlapping lists, of which parts are there and parts are not
					n, err := r.schedules.CreateMany(t.Context(), app, some[at:min(at+3, many)])
					if err != nil {
						t.Error(err)
						return
					}
					by[i] += n
				}
			})
		}
		all.Wait()
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'schedule.fire'"); n != many || by[0]+by[1]+by[2]+by[3] != many {
			t.Errorf("%d timers, created by %v; want %d", n, by, many)
		}
	})
}

// A transaction that somebody has begun by hand on a connection is theirs to end.
func TestATransactionBegunByHandIsNotCommittedByCreate(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		conn, err := r.app("10:00").Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(t.Context(), "START TRANSACTION")
		r.Must(err)
		created, err := r.schedules.Create(t.Context(), conn, schedule.Schedule{ID: "mine", Crontabs: []string{"0 * * * *"}, Topic: "t"})
		r.Must(err)
		if !created {
			t.Error("it was not created")
		}
		_, err = conn.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		if n := r.Count("SELECT COUNT(*) FROM p_schedule") + r.Count("SELECT COUNT(*) FROM p_future_job"); n != 0 {
			t.Errorf("%d rows are there after ROLLBACK", n)
		}
	})
}
