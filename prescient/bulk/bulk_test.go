package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/bulk"
	"prescient/prescient/client"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation with bulk runs, at the running clock, on the account that serve has for operators.
type testRig struct {
	*app.Rig
	bulk *bulk.Bulk
	db   *sqlx.DB
	soon time.Time
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d)) })
}

// eachFlavour is eachServer for what is neither plans nor locks.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d)) })
}

func newRig(t *testing.T, d servertest.Database) *testRig {
	t.Helper()
	r := &testRig{Rig: app.New(t, d, 15*time.Minute)}
	r.bulk, r.db = bulk.New(r.Client), r.As("serve-operator", time.Time{})
	r.soon = r.Client.Grid().Ceil(time.Now().Add(2 * time.Hour)).UTC()
	return r
}

// put makes n checks of a job_exec pending, of orders named by it and a number.
func (r *testRig) put(jobExec string, n int, due time.Time) {
	r.T.Helper()
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: rig.Order(fmt.Sprintf("%s-%d", jobExec, i)), JobExec: jobExec, DueAt: due, Payload: []byte(`{"a":1}`)}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.App, jobs)
	r.Must(err)
}

var by = bulk.By{Person: "ada", Reason: "they were sent twice", Host: "10.0.0.7"}

// begin makes a preview and begins its deed.
func (r *testRig) begin(asked bulk.Asked) bulk.Preview {
	r.T.Helper()
	p, err := r.bulk.Preview(r.T.Context(), r.db, asked, by)
	r.Must(err)
	r.Must(r.bulk.Start(r.T.Context(), r.db, p.Number, p.Token))
	return p
}

// work works a deed off, and returns what it came to.
func (r *testRig) work(p bulk.Preview) bulk.Run {
	r.T.Helper()
	over, err := r.bulk.WorkOn(r.T.Context(), r.db, p.Number, "w", nil)
	r.Must(err)
	if !over {
		r.T.Error("it is not over")
	}
	run, err := r.bulk.Get(r.T.Context(), r.db, p.Number)
	r.Must(err)
	return run
}

// counts are pending checks and ends by job_exec.
func (r *testRig) counts() string {
	r.T.Helper()
	var all []string
	for _, query := range []string{"SELECT CONCAT(job_exec, ' ', COUNT(*)) FROM p_future_job GROUP BY job_exec ORDER BY job_exec",
		"SELECT CONCAT(job_exec, ' ', outcome, ' ', COUNT(*)) FROM p_job_history GROUP BY job_exec, outcome ORDER BY job_exec, outcome"} {
		rows, err := r.Root.QueryContext(r.T.Context(), query)
		r.Must(err)
		for rows.Next() {
			var one string
			r.Must(rows.Scan(&one))
			all = append(all, one)
		}
		r.Must(rows.Close())
	}
	return strings.Join(all, ", ")
}

func TestWhatMatchesIsCancelledAndNothingElse(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 1203, r.soon)
		r.put("pay", 5, r.soon)
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship", Slot: &r.soon}})
		if p.Count != 1203 || !p.Exact || len(p.Sample) != 10 || p.Sample[0].JobExec != "ship" {
			t.Errorf("%+v", p)
		}
		r.put("ship", 1210, r.soon) // 7 of them are new: after the cutoff
		run := r.work(p)
		if run.Done != 1203 || run.LeftOut != 0 || run.Error != "" || run.Matched != 1203 || run.EndedAt == nil {
			t.Errorf("%+v", run)
		}
		if got := r.counts(); got != "pay 5, ship 7, ship cancelled 1203" {
			t.Error(got)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_bulk_check JOIN p_job_history USING (job_key) WHERE number = ?", p.Number); n != 1203 {
			t.Errorf("%d checks were noted", n)
		}
		log, err := audit.Open(t.Context(), r.Pool(time.Time{}), audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		entries, err := log.List(t.Context(), r.Pool(time.Time{}), audit.Filter{Since: time.Now().Add(-time.Hour)})
		r.Must(err)
		var said []string
		for _, e := range entries {
			if e.Kind == audit.Bulk || e.Kind == audit.Check {
				said = append(said, fmt.Sprint(e.Kind, e.Verb, e.Person, e.Reason, strings.Contains(string(e.After), `"done":1203`)))
			}
		}
		if got := fmt.Sprint(said); got != "[bulkcancelada"+by.Reason+"true]" && got != "[bulk cancel ada "+by.Reason+" true]" {
			t.Error(got)
		}
	})
}

func TestAPreviewBeginsOnce(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 3, r.soon)
		ctx := t.Context()
		preview := func() bulk.Preview {
			p, err := r.bulk.Preview(ctx, r.db, bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}}, by)
			r.Must(err)
			return p
		}
		p, other, old := preview(), preview(), preview()
		if over, err := r.bulk.WorkOn(ctx, r.db, p.Number, "w", nil); over || err != nil {
			t.Errorf("a preview was worked off: %t, %v", over, err)
		}
		r.Exec(fmt.Sprintf("UPDATE p_bulk_run SET token_until = token_until - INTERVAL 15 MINUTE WHERE number = %d", old.Number))
		for _, refused := range []struct {
			number uint64
			token  string
			err    error
		}{{p.Number, other.Token, bulk.ErrToken}, {p.Number, "", bulk.ErrToken}, {old.Number, old.Token, bulk.ErrToken}, {999, p.Token, bulk.ErrNotFound}} {
			if err := r.bulk.Start(ctx, r.db, refused.number, refused.token); !errors.Is(err, refused.err) {
				t.Errorf("%d by %s: %v", refused.number, refused.token, err)
			}
		}
		r.Must(r.bulk.Start(ctx, r.db, p.Number, p.Token))
		if err := r.bulk.Start(ctx, r.db, p.Number, p.Token); !errors.Is(err, bulk.ErrToken) {
			t.Errorf("a second time: %v", err)
		}
		r.work(p)
		if got := r.counts(); got != "ship cancelled 3" {
			t.Error(got)
		}
	})
}

func TestWhatIsLockedIsLeftToTheNextPass(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.SkipLocked)
		r.put("ship", 20, r.soon)
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})
		tx, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		var n int
		for i := range 3 {
			key := prescient.KeyOf(rig.Order(fmt.Sprintf("ship-%d", i)), "ship", "")
			r.Must(tx.QueryRow("SELECT check_count FROM p_future_job WHERE job_key = ? FOR UPDATE", key[:]).Scan(&n))
		}
		var passes []string
		over, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "w", func(run bulk.Run) {
			passes = append(passes, fmt.Sprint(run.Pass, run.Done, run.LeftOut))
			if run.Pass == 2 {
				_ = tx.Rollback()
			}
		})
		r.Must(err)
		if got := r.counts(); !over || got != "ship cancelled 20" {
			t.Errorf("%t: %s", over, got)
		}
		if got := strings.Join(passes, ", "); got != "1 0 0, 2 17 0, 2 20 0" {
			t.Error(got)
		}
	})
}

// What may not be moved so far is met in each pass, and counted once.
func TestWhatIsRefusedIsCountedOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.SkipLocked)
		registry := prescient.NewRegistry()
		for jobExec, horizon := range map[string]time.Duration{"near": 24 * time.Hour, "far": 0} {
			r.Must(registry.Register(jobExec, func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{Horizon: horizon}))
			r.put(jobExec, 4, r.soon)
		}
		c, err := client.New(t.Context(), r.db, client.Options{Prefix: "p_", Dialect: r.Setting, Registry: registry})
		r.Must(err)
		r.bulk = bulk.New(c)
		due := r.soon.AddDate(0, 0, 7)
		p := r.begin(bulk.Asked{Deed: bulk.Reschedule, Filter: bulk.Filter{EntityName: "order"}, DueAt: &due})
		tx, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		var n int
		key := prescient.KeyOf(rig.Order("far-0"), "far", "")
		r.Must(tx.QueryRow("SELECT check_count FROM p_future_job WHERE job_key = ? FOR UPDATE", key[:]).Scan(&n))
		_, err = r.bulk.WorkOn(t.Context(), r.db, p.Number, "w", func(run bulk.Run) {
			if run.Pass == 3 {
				_ = tx.Rollback()
			}
		})
		r.Must(err)
		if run, err := r.bulk.Get(t.Context(), r.db, p.Number); err != nil || run.Pass != 3 || run.Done != 4 || run.LeftOut != 0 || run.Refused != 4 {
			t.Errorf("%+v, %v", run, err)
		}
	})
}

func TestAnotherGoesOnWhereTheFirstDied(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 1700, r.soon)
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})
		_, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "first", func(run bulk.Run) {
			if run.Done != 500 {
				return
			}
			if over, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "second", nil); over || err != nil {
				t.Errorf("two at once: %t, %v", over, err)
			}
			r.Exec("UPDATE p_duty SET allocated_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND") // the first hangs for longer than its lease
			if run := r.work(p); run.Done != 1700 {
				t.Errorf("%+v", run)
			}
		})
		run, _ := r.bulk.Get(t.Context(), r.db, p.Number)
		if err != nil && !errors.Is(err, duty.ErrLost) || run.Done != 1700 {
			t.Errorf("%v, %+v", err, run)
		}
		if got := r.counts(); got != "ship cancelled 1700" {
			t.Error(got)
		}
	})
}

// A first one that comes back behind the second's back does nothing: its transaction is refused by the fence.
func TestTheFirstIsRefusedByTheFence(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 1200, r.soon)
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})
		_, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "first", func(run bulk.Run) {
			if run.Done == 500 {
				r.Exec("UPDATE p_duty SET token = token + 1, worker = 'second', allocated_until = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND")
			}
		})
		if !errors.Is(err, duty.ErrLost) {
			t.Error(err)
		}
		if got := r.counts(); got != "ship 700, ship cancelled 500" {
			t.Error(got)
		}
	})
}

func TestADeedIsStopped(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 1200, r.soon)
		p := r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}})
		_, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "w", func(run bulk.Run) {
			if run.Done == 500 {
				r.Must(r.bulk.Stop(t.Context(), r.db, p.Number))
			}
		})
		r.Must(err)
		run, err := r.bulk.Get(t.Context(), r.db, p.Number)
		r.Must(err)
		if got := r.counts(); got != "ship 700, ship cancelled 500" || run.EndedAt == nil || run.StoppedAt == nil {
			t.Errorf("%s, %+v", got, run)
		}
	})
}

func TestChecksAreMovedRetriedRequeuedAndPaused(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("ship", 700, r.soon)
		r.put("pay", 3, r.soon)
		later := r.soon.Add(3 * time.Hour)
		run := r.work(r.begin(bulk.Asked{Deed: bulk.Reschedule, Filter: bulk.Filter{JobExec: "ship"}, DueAt: &later}))
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE job_exec = 'ship' AND next_check_at = ?", later); n != 700 || run.Done != 700 {
			t.Errorf("%d, %+v", n, run)
		}
		// Spread over two hours they come to eight slots, each always to the same.
		const places = "SELECT BIT_XOR(CRC32(CONCAT(HEX(job_key), due_at))) FROM p_future_job WHERE job_exec = 'ship'"
		spread := bulk.Asked{Deed: bulk.Reschedule, Filter: bulk.Filter{JobExec: "ship"}, DueAt: &later, SpreadMS: (2 * time.Hour).Milliseconds()}
		run = r.work(r.begin(spread))
		first := r.Count(places)
		if slots := r.Count("SELECT COUNT(DISTINCT next_check_at) FROM p_future_job WHERE job_exec = 'ship' AND due_at >= ? AND due_at < ?", later, later.Add(2*time.Hour)); slots < 8 || slots > 9 || run.Done != 700 || run.Spread() != 2*time.Hour {
			t.Errorf("%d slots, %+v", slots, run)
		}
		if most := r.Count("SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM p_future_job WHERE job_exec = 'ship' GROUP BY next_check_at) each_slot"); most > 130 {
			t.Errorf("one slot has %d of 700", most)
		}
		r.work(r.begin(bulk.Asked{Deed: bulk.Reschedule, Filter: bulk.Filter{JobExec: "ship"}, DueAt: &later}))
		r.work(r.begin(spread))
		if again := r.Count(places); again != first {
			t.Errorf("%d, and again %d", first, again)
		}
		r.Exec("UPDATE p_future_job SET error_count = 2, last_error = 'no route to host 7' WHERE entity_key IN ('ship-1', 'ship-2', 'pay-1')")
		run = r.work(r.begin(bulk.Asked{Deed: bulk.Retry, Filter: bulk.Filter{JobExec: "ship", Reason: "no route"}}))
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at < ?", r.soon); n != 2 || run.Done != 2 {
			t.Errorf("%d, %+v", n, run)
		}
		run = r.work(r.begin(bulk.Asked{Deed: bulk.Pause, Filter: bulk.Filter{EntityName: "order"}}))
		paused, err := r.Client.Pauses(t.Context(), r.db)
		r.Must(err)
		if len(paused) != 2 || run.Done != 2 || paused[0].By != "ada" {
			t.Errorf("%+v, %+v", paused, run)
		}
		r.work(r.begin(bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "ship"}}))
		r.put("ship", 1, r.soon) // it is pending again
		from := time.Now().Add(-time.Hour)
		run = r.work(r.begin(bulk.Asked{Deed: bulk.Requeue, Filter: bulk.Filter{JobExec: "ship", Outcome: prescient.Cancelled, From: &from}, DueAt: &later, SpreadMS: spread.SpreadMS}))
		if run.Done != 699 || run.Refused != 1 {
			t.Errorf("%+v", run)
		}
		if slots := r.Count("SELECT COUNT(DISTINCT next_check_at) FROM p_future_job WHERE job_exec = 'ship' AND due_at >= ? AND due_at < ?", later, later.Add(2*time.Hour)); slots < 8 || slots > 9 {
			t.Errorf("requeued into %d slots", slots)
		}
		if got := r.counts(); got != "pay 3, ship 700, ship cancelled 700" {
			t.Error(got)
		}
	})
}

// A check that comes back by itself, or that somebody moves after the deed did, is not done again.
func TestWhatWasDoneIsNotDoneAgain(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put("poll", 1100, r.soon)
		due := r.soon.Add(time.Hour)
		p := r.begin(bulk.Asked{Deed: bulk.Reschedule, Filter: bulk.Filter{JobExec: "poll"}, DueAt: &due})
		later := r.soon.Add(24 * time.Hour)
		moved := 0
		_, err := r.bulk.WorkOn(t.Context(), r.db, p.Number, "w", func(run bulk.Run) {
			if run.Done == 500 && moved == 0 { // an app moves one of the first far ahead of where the deed is
				moved = r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", due)
				r.Exec("UPDATE p_future_job SET due_at = '" + later.Format(time.DateTime) + "', next_check_at = '" + later.Format(time.DateTime) + "', revision = revision + 1 WHERE next_check_at = '" + due.Format(time.DateTime) + "' LIMIT 1")
			}
		})
		r.Must(err)
		run, err := r.bulk.Get(t.Context(), r.db, p.Number)
		r.Must(err)
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", later); n != 1 || run.Done != 1100 {
			t.Errorf("%d were left where the app put them, %+v", n, run)
		}
	})
}
