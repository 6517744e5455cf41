package schedule_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an app with schedules, slots of 15 minutes, and workers that fire them.
type testRig struct {
	*whole.Rig
	schedules *schedule.Schedules
	registry  *prescient.Registry

	mu   sync.Mutex
	runs []schedule.Run // that were called
	err  error          // what the next calls return
	on   func(run schedule.Run)
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServerOn(t, 15*time.Minute, test)
}

// eachServerOn is eachServer for slots of another resolution.
func eachServerOn(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

// eachFlavour is eachServer on one server of each flavour, for what that is enough for.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		test(t, newRig(t, servertest.New(t, flavour), 15*time.Minute))
	})
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *testRig {
	r := &testRig{Rig: whole.New(t, d, resolution), registry: prescient.NewRegistry()}
	r.schedules = schedule.New(r.Client)
	r.Must(r.schedules.Register(r.registry))
	// Times stand still: what a job_exec reads, it reads on a pool of its own.
	r.Must(r.registry.Register("digest", r.schedules.Func(r.Pool(time.Time{}), r.called), prescient.Guards{}))
	return r
}

func (r *testRig) called(_ context.Context, run schedule.Run) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, run)
	if r.on != nil {
		r.on(run)
	}
	return r.err
}

// ids are the runs that were called since it was asked last.
func (r *testRig) ids() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.runs {
		ids = append(ids, run.ID)
	}
	r.runs = nil
	return ids
}

// app is the app's pool at a time.
func (r *testRig) app(clock string) *sql.DB { return r.AppAt(rig.At(clock)) }

// run runs the slot of a time, a moment after it began.
func (r *testRig) run(clock string) books.Figures {
	r.T.Helper()
	return r.RunAt(rig.At(clock).Add(time.Second), r.registry, worker.Options{})
}

// sweep catches up what is overdue at a time.
func (r *testRig) sweep(clock string) {
	r.T.Helper()
	for _, w := range r.Workers(rig.At(clock).Add(11*time.Second), r.registry, worker.Options{}) {
		_, err := w.Sweep(r.T.Context())
		r.Must(err)
	}
}

func (r *testRig) create(clock string, s schedule.Schedule) {
	r.T.Helper()
	created, err := r.schedules.Create(r.T.Context(), r.app(clock), s)
	r.Must(err)
	if !created {
		r.T.Fatalf("%s was there", s.ID)
	}
}

// timer is the timer of a schedule; nil for none.
func (r *testRig) timer(id string) *prescient.FutureJob {
	r.T.Helper()
	for _, job := range r.Pending() {
		if job.EntityKey == id && job.JobExec == schedule.TimerExec {
			return &job
		}
	}
	return nil
}

// waiting are the tags of the runs of a schedule that wait, by the times of their slots.
func (r *testRig) waiting(id string) map[string]string {
	r.T.Helper()
	tags := make(map[string]string)
	for _, job := range r.Pending() {
		if job.EntityKey == id && job.JobExec != schedule.TimerExec {
			tags[job.Tag] = job.NextCheckAt.Format("15:04")
		}
	}
	return tags
}

// ends are how many rows ended, by job_exec and outcome.
func (r *testRig) ends() map[string]int {
	r.T.Helper()
	return r.Tally("SELECT CONCAT(job_exec, ' ', outcome), COUNT(*) FROM p_job_history GROUP BY 1")
}

// events are the ids in the outbox, in its order.
func (r *testRig) events() (ids []string) {
	r.T.Helper()
	rows, err := r.Root.Query("SELECT id FROM p_event_outbox ORDER BY seq")
	r.Must(err)
	defer rows.Close()
	for rows.Next() {
		var id string
		r.Must(rows.Scan(&id))
		ids = append(ids, id)
	}
	r.Must(rows.Err())
	return ids
}

var errNotYet = errors.New("not yet")
