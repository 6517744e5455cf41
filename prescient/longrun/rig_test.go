package longrun_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
	"prescient/slots"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an app with schedules, an agent, and workers, by a clock that the test drives.
type testRig struct {
	*whole.Rig
	schedules *schedule.Schedules
	registry  *prescient.Registry
	runner    *longrun.Runner
	account   string

	mu    sync.Mutex
	now   time.Time
	calls map[string]*call // by the names of checks
	over  chan struct{}    // closed when the test is
	end   sync.Once
	ends  []func() // of the calls that have a bound: has their time be over
}

// call is a call that is under way: it ends as the test says.
type call struct {
	run    *longrun.Run
	ctx    context.Context
	answer chan prescient.Answer
}

func eachServer(t *testing.T, resolution time.Duration, options longrun.Options, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{Rig: whole.New(t, d, resolution), registry: prescient.NewRegistry(), calls: make(map[string]*call), over: make(chan struct{})}
		r.now = rig.At("12:00")
		r.account = r.Account("worker")
		r.schedules = schedule.New(r.Client)
		r.Must(r.schedules.Register(r.registry))
		r.runner = r.agent("agent-1", options)
		r.Must(r.runner.Register(r.registry, "export", r.called, prescient.Guards{MaxErrors: 2}))
		test(t, r)
	})
}

// agent makes an agent on a pool whose connections have the clock of the test.
func (r *testRig) agent(name string, o longrun.Options) *longrun.Runner {
	r.T.Helper()
	db := sqlx.NewDb(sql.OpenDB(driven{r}), "mysql")
	db.SetMaxIdleConns(0)
	r.T.Cleanup(func() { _ = db.Close() })
	o.Prefix, o.Dialect, o.Name, o.Rules = "p_", r.Setting, name, r.schedules
	o.Log = zerolog.New(zerolog.NewTestWriter(r.T))
	runner, err := longrun.New(r.T.Context(), db, o)
	r.Must(err)
	runner.SetAfter(func(_ time.Duration, do func()) func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ends = append(r.ends, do)
		return func() bool { return true }
	})
	r.T.Cleanup(func() {
		r.end.Do(func() { close(r.over) })
		_ = runner.Drain(context.Background())
	})
	return runner
}

// driven makes connections on which the server's clock stands where the test's does.
type driven struct{ r *testRig }

func (d driven) Connect(ctx context.Context) (driver.Conn, error) {
	d.r.mu.Lock()
	now := d.r.now
	d.r.mu.Unlock()
	c, err := connect.WorkerConnector(servertest.WithParams(d.r.account, rig.FixedClock(now)), 0, connect.TLS{})
	if err != nil {
		return nil, err
	}
	return c.Connect(ctx)
}

func (d driven) Driver() driver.Driver { return nil }

// called is the function of the job_exec: it answers as the test says.
func (r *testRig) called(ctx context.Context, run *longrun.Run) (*time.Time, error) {
	c := &call{run: run, ctx: ctx, answer: make(chan prescient.Answer)}
	r.mu.Lock()
	r.calls[nameOf(run.Job())] = c
	r.mu.Unlock()
	select {
	case a := <-c.answer:
		return a.Next, a.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.over:
		return nil, nil
	}
}

// nameOf names a check in tests: its entity's key, and the time of an occurrence.
func nameOf(job prescient.FutureJob) string {
	if job.EntityName == prescient.ScheduleEntity {
		return job.EntityKey + " " + job.DueAt.Format("15:04:05")
	}
	return job.EntityKey
}

// at sets the clock.
func (r *testRig) at(clock string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = rig.At(clock)
}

// slot runs the slot of a time, at that time.
func (r *testRig) slot(clock string) books.Figures {
	r.T.Helper()
	r.at(clock)
	return r.RunAt(rig.At(clock), r.registry, worker.Options{Name: "agent-1", Log: zerolog.New(zerolog.NewTestWriter(r.T))})
}

// running waits until a check is called, and returns the call. By a clock that stands, an agent would wait for ever that claims a moment later, since
// it has much to do, or a second later, since a slot run had locked the run or its schedule: after a while the clock goes on.
func (r *testRig) running(name string) (c *call) {
	r.T.Helper()
	began := time.Now()
	r.mu.Lock()
	second := r.now.Truncate(time.Second)
	r.mu.Unlock()
	r.Eventually(name+" runs", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if waited := time.Since(began) / (5 * time.Second); waited > 0 {
			r.now = slots.Later(r.now, second.Add(waited*time.Second-100*time.Millisecond))
		}
		c = r.calls[name]
		return c != nil
	})
	return c
}

// isRunning says whether a check was called and did not end.
func (r *testRig) isRunning(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls[name] != nil
}

// answers ends a call at a time, and waits until that is committed.
func (r *testRig) answers(name, clock string, a prescient.Answer) {
	r.T.Helper()
	c := r.running(name)
	r.at(clock)
	r.mu.Lock()
	delete(r.calls, name)
	r.mu.Unlock()
	key := c.run.Job().Key()
	c.answer <- a
	r.Eventually(name+" has ended", func() bool {
		return r.Count("SELECT COUNT(*) FROM p_long_run WHERE job_key = ? AND allocated_until IS NOT NULL", key[:]) == 0
	})
}

// insert makes the check of an app pending.
func (r *testRig) insert(clock, key, due string) {
	r.T.Helper()
	_, err := r.Client.Insert(r.T.Context(), r.AppAt(rig.At(clock)), prescient.NewJob{Entity: prescient.Entity{Name: "report", Key: key}, JobExec: "export", DueAt: rig.At(due)})
	r.Must(err)
}

// create makes a schedule at a time.
func (r *testRig) create(clock string, s schedule.Schedule) {
	r.T.Helper()
	_, err := r.schedules.Create(r.T.Context(), r.AppAt(rig.At(clock)), s)
	r.Must(err)
}

// outcomes are the ends in history, by the names of checks.
func (r *testRig) outcomes() map[string]string {
	r.T.Helper()
	rows, err := r.Root.Query("SELECT entity_name, entity_key, CAST(due_at AS CHAR), outcome FROM p_job_history")
	r.Must(err)
	defer rows.Close()
	all := make(map[string]string)
	for rows.Next() {
		var name, key, due, outcome string
		r.Must(rows.Scan(&name, &key, &due, &outcome))
		if name == prescient.ScheduleEntity {
			key += " " + due[len("2006-01-02 "):len("2006-01-02 15:04:05")]
		}
		all[key] = outcome
	}
	r.Must(rows.Err())
	return all
}

func (r *testRig) wantOutcome(name, want string) {
	r.T.Helper()
	var got map[string]string
	defer func() {
		if got[name] != want {
			r.T.Logf("what has ended: %v", got)
		}
	}()
	r.Eventually(name+" ended as "+want, func() bool {
		got = r.outcomes()
		return got[name] == want
	})
}

// timer is when the next occurrence of a schedule is due; lastStart, when a run of it started last.
func (r *testRig) wantTimes(id, nextRun, lastRun string) {
	r.T.Helper()
	var next, last sql.NullString
	r.Must(r.Root.QueryRow("SELECT TIME_FORMAT(job.due_at, '%H:%i:%s'), TIME_FORMAT(one.last_started_at, '%H:%i:%s') FROM p_schedule one LEFT JOIN p_future_job job ON job.entity_name = 'schedule' AND job.entity_key = one.id AND job.job_exec = 'schedule.fire' WHERE one.id = ?", id).
		Scan(&next, &last))
	if next.String != nextRun || last.String != lastRun {
		r.T.Errorf("%s: nextRun is %q, lastRun %q; want %q, %q", id, next.String, last.String, nextRun, lastRun)
	}
}
