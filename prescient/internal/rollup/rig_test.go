package rollup

import (
	"context"
	"fmt"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct {
	*app.Rig
	tables *store.Tables
	made   uint64
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
	r.tables = r.Tables()
	return r
}

// end is one that history gets, of a check with a key of its own.
func (r *testRig) end(at time.Time, jobExec string, outcome prescient.Outcome, change func(e *store.End)) {
	r.T.Helper()
	r.made++
	job := prescient.FutureJob{EntityName: "order", EntityKey: fmt.Sprint(r.made), JobExec: jobExec, DueAt: at.Add(-time.Minute), FirstCheckAt: at.Truncate(time.Minute), NextCheckAt: at.Truncate(time.Minute),
		InsertedAt: at, Revision: r.made}
	e := store.End{Job: job, Outcome: outcome, Started: at, Ended: at, Ran: time.Duration(r.made) * time.Millisecond, Worker: "w"}
	if outcome != prescient.Done {
		e.Reason = fmt.Sprintf("order %d is no good", r.made)
	}
	if change != nil {
		change(&e)
	}
	e.Key = e.Job.Key()
	r.Exec(r.tables.Fill("slotrun/history_insert", "{rows}", string(store.AppendEnd(nil, e))))
}

// rollAt sums up all that is due at a time.
func (r *testRig) rollAt(at time.Time) {
	r.T.Helper()
	r.roll(New(r.As("worker", at), r.tables, "w"))
}

func (r *testRig) roll(engine *Rollup) {
	r.T.Helper()
	for more := true; more; {
		var err error
		more, err = engine.Step(r.T.Context(), time.Minute)
		r.Must(err)
	}
	r.Must(engine.Close(context.Background()))
}

// balanced compares all hours with history, and all days with their hours.
func (r *testRig) balanced(grain string, from, before time.Time) {
	r.T.Helper()
	stamp := func(at time.Time) string { return at.Format("2006-01-02 15:04:05") }
	span := fmt.Sprintf("grain = '%s' AND start >= '%s' AND start < '%s'", grain, stamp(from), stamp(before))
	of := fmt.Sprintf("ended_at >= '%s' AND ended_at < '%s'", stamp(from), stamp(before))
	for about, q := range map[string][2]string{
		"ends":     {"SELECT CONCAT_WS(' ', job_exec, entity_name, outcome), SUM(ends) FROM p_stats WHERE " + span + " GROUP BY 1", "SELECT CONCAT_WS(' ', job_exec, entity_name, outcome), COUNT(*) FROM p_job_history WHERE " + of + " GROUP BY 1"},
		"run time": {"SELECT job_exec, SUM(run_ms) FROM p_stats WHERE " + span + " GROUP BY 1", "SELECT job_exec, SUM(run_ms) FROM p_job_history WHERE " + of + " GROUP BY 1"},
		"due":      {"SELECT job_exec, SUM(due_lateness_ms) FROM p_stats WHERE " + span + " GROUP BY 1", "SELECT job_exec, COALESCE(SUM(TIMESTAMPDIFF(MICROSECOND, due_at, started_at) DIV 1000), 0) FROM p_job_history WHERE " + of + " GROUP BY 1"},
		"buckets": {"SELECT CONCAT_WS(' ', job_exec, bucket), SUM(n) FROM p_stats_bucket WHERE measure = 'run' AND " + span + " GROUP BY 1",
			"SELECT CONCAT_WS(' ', job_exec, IF(run_ms < 1, 0, 1 + FLOOR(LN(run_ms) / LN(1.05)))), COUNT(*) FROM p_job_history WHERE started_at IS NOT NULL AND " + of + " GROUP BY 1"},
		"reasons": {"SELECT job_exec, SUM(ends) FROM p_stats_reason WHERE " + span + " GROUP BY 1", "SELECT job_exec, COUNT(*) FROM p_job_history WHERE outcome <> 'done' AND " + of + " GROUP BY 1"},
	} {
		got, want := r.Tally(q[0]), r.Tally(q[1])
		if fmt.Sprint(got) != fmt.Sprint(want) {
			r.T.Errorf("%s of each %s: %v; history has %v", about, grain, got, want)
		}
	}
}

func (r *testRig) hours() int {
	r.T.Helper()
	return r.Count("SELECT COUNT(*) FROM p_stats_hour")
}

var midnight = rig.Day
