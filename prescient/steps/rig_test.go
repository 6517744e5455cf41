package steps_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
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
	"prescient/prescient/output"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/prescient/worker"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an app with jobs, and agents that run them, by a clock that the test drives.
type testRig struct {
	*whole.Rig
	jobs    *steps.Jobs // of the app
	account string
	// operators are pools, by the times at which their clocks stand.
	operators map[time.Time]*sqlx.DB

	mu    sync.Mutex
	now   time.Time
	calls []*call // that are under way, and not taken by the test
	said  []string
	over  chan struct{} // closed when the test is
	end   sync.Once
}

// agent is a process that runs jobs.
type agent struct {
	*testRig
	name     string
	registry *prescient.Registry
	runner   *longrun.Runner
	jobs     *steps.Jobs
	log      zerolog.Logger
}

// call is a call of a step that is under way: it ends as the test says.
type call struct {
	agent  string
	job    prescient.FutureJob
	ctx    context.Context
	run    *longrun.Run // of a step that is a long run
	answer chan prescient.Answer
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

// newRig has slots of half a minute, and leases of a minute.
func newRig(t *testing.T, d servertest.Database) *testRig {
	t.Helper()
	r := &testRig{Rig: whole.New(t, d, 30*time.Second), over: make(chan struct{}), now: rig.At("11:59"), operators: make(map[time.Time]*sqlx.DB)}
	r.account = r.Account("worker")
	r.jobs = steps.New(r.Client, steps.Options{})
	return r
}

// agent makes an agent on a pool whose connections have the clock of the test.
func (r *testRig) agent(name string) *agent { return r.agentWith(name, longrun.Options{}) }

// agentWith is agent with pools, or a wake-up.
func (r *testRig) agentWith(name string, o longrun.Options) *agent {
	r.T.Helper()
	db := sqlx.NewDb(sql.OpenDB(driven{r}), "mysql")
	db.SetMaxIdleConns(0)
	r.T.Cleanup(func() { _ = db.Close() })
	return r.agentOn(name, db, o)
}

// agentOn makes an agent on a pool.
func (r *testRig) agentOn(name string, db *sqlx.DB, o longrun.Options) *agent {
	r.T.Helper()
	r.Needs(r.T, rig.OnePool)
	a := &agent{testRig: r, name: name, registry: prescient.NewRegistry(), log: zerolog.New(zerolog.NewTestWriter(r.T))}
	schedules := schedule.New(r.Client)
	r.Must(schedules.Register(a.registry))
	o.Prefix, o.Dialect, o.Name, o.Rules, o.Log = "p_", r.Setting, name, schedules, a.log
	var err error
	a.runner, err = longrun.New(r.T.Context(), db, o)
	r.Must(err)
	r.T.Cleanup(func() {
		r.end.Do(func() { close(r.over) })
		_ = a.runner.Drain(context.Background())
	})
	a.jobs = steps.New(r.Client, steps.Options{Log: a.log})
	r.Must(a.jobs.Register(a.registry, a.runner))
	for _, name := range []string{"one", "two", "three"} {
		r.Must(a.registry.Register(name, a.called, prescient.Guards{Timeout: time.Minute, MaxChecks: 2}))
	}
	r.Must(a.runner.Register(a.registry, "long", func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
		return a.wait(&call{agent: a.name, job: run.Job(), ctx: ctx, run: run})
	}, prescient.Guards{}))
	return a
}

// serves has an agent claim runs until the test is over.
func (a *agent) serves() {
	a.T.Helper()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() {
		defer close(served)
		a.runner.Serve(ctx)
	}()
	a.T.Cleanup(func() {
		stop()
		<-served
	})
}

// driven makes connections on which the server's clock stands where the test's does.
type driven struct{ r *testRig }

func (d driven) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := connect.WorkerConnector(servertest.WithParams(d.r.account, rig.FixedClock(d.r.clock())), 0, connect.TLS{})
	if err != nil {
		return nil, err
	}
	return c.Connect(ctx)
}

func (d driven) Driver() driver.Driver { return nil }

func (r *testRig) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *testRig) at(clock string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = rig.At(clock)
}

// app is the app's pool at the time of the test.
func (r *testRig) app() *sql.DB { return r.AppAt(r.clock()) }

func (a *agent) called(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
	return a.wait(&call{agent: a.name, job: job, ctx: ctx})
}

func (a *agent) wait(c *call) (*time.Time, error) {
	c.answer = make(chan prescient.Answer)
	fmt.Fprintf(output.Of(c.ctx), "this is %s\n", c.job.Tag)
	a.mu.Lock()
	a.calls = append(a.calls, c)
	a.said = append(a.said, c.job.Tag)
	a.mu.Unlock()
	select {
	case answer := <-c.answer:
		return answer.Next, answer.Err
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	case <-a.over:
		return nil, errors.New("the test is over")
	}
}

// slot runs the slot of a time, at that time.
func (a *agent) slot(clock string) {
	a.T.Helper()
	a.at(clock)
	a.RunAt(rig.At(clock), a.registry, worker.Options{Name: a.name, Log: a.log})
}

// running waits until a step is called, and returns the call.
func (r *testRig) running(step string) (c *call) {
	r.T.Helper()
	r.Eventually(step+" is called", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, one := range r.calls {
			if one.job.Tag == step {
				c = one
				r.calls = append(r.calls[:i], r.calls[i+1:]...)
				return true
			}
		}
		return false
	})
	return c
}

// answers waits until a step is called, and answers.
func (r *testRig) answers(step string, a prescient.Answer) {
	r.T.Helper()
	r.running(step).answer <- a
}

func (r *testRig) create(job steps.Job) {
	r.T.Helper()
	created, err := r.jobs.Create(r.T.Context(), r.app(), job)
	r.Must(err)
	if !created {
		r.T.Fatalf("%s was there", job.Name)
	}
}

// job is one of three steps, each minute, whose runs have no quota.
func job(change func(j *steps.Job)) steps.Job {
	j := steps.Job{Name: "nightly", Crontabs: []string{"* * * * *"}, Quota: schedule.NoQuota, Steps: []steps.Step{
		{Name: "first", JobExec: "one"}, {Name: "second", JobExec: "two", Arguments: []byte(`{"n": 1}`)}, {Name: "third", JobExec: "three"}}}
	if change != nil {
		change(&j)
	}
	return j
}

// operator is the pool of an operator, who may read what is under way, at the time of the test.
func (r *testRig) operator() prescient.DB {
	now := r.clock()
	if r.operators[now] == nil {
		r.operators[now] = r.As("operator", now)
	}
	return r.operators[now]
}

// log is the run log in short, of a job or of all: a line for each run, the latest first, and one for each of its calls.
func (r *testRig) log(job string) (lines []string) {
	r.T.Helper()
	runs, err := r.jobs.Runs(r.T.Context(), r.operator(), steps.RunFilter{Job: job, Steps: true})
	r.Must(err)
	for _, run := range runs {
		line := fmt.Sprintf("%s v%d %s %s", run.ScheduledAt.Format("15:04"), run.Version, run.Agent, run.Phase)
		if run.Phase == steps.Ended {
			line = fmt.Sprintf("%s v%d %s %s", run.ScheduledAt.Format("15:04"), run.Version, run.Agent, run.Result)
		}
		lines = append(lines, line)
		for _, s := range run.Steps {
			result := s.Result
			if result == "" {
				result = "called"
			}
			lines = append(lines, fmt.Sprintf("  %d %s %d %s %s", s.Position, s.Step, s.Attempt, s.Agent, result))
		}
	}
	return lines
}

// wantLog waits until the run log is as it is to be.
func (r *testRig) wantLog(want ...string) {
	r.T.Helper()
	r.wantLogOf("", want...)
}

// wantLogOf is wantLog for the runs of a job.
func (r *testRig) wantLogOf(job string, want ...string) {
	r.T.Helper()
	var got []string
	defer func() {
		if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
			r.T.Errorf("the log is\n%s\nwant\n%s", text, strings.Join(want, "\n"))
		}
	}()
	r.Eventually("the log", func() bool {
		got = r.log(job)
		return strings.Join(got, "\n") == strings.Join(want, "\n")
	})
}
