package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/connect"
	"prescient/prescient/longrun"
	"prescient/prescient/worker"
)

// childName is the argument with which this program runs itself.
const childName = "an-agent"

// asked is what an agent is to be.
type asked struct {
	DSN      string
	Name     string
	Capacity int // of the pool; 0 for a worker alone, which is no agent
	Lease    time.Duration
	// Seated are agents that have long runs of their own in the pool, which others offer and do not claim.
	Seated []string
}

// ownExec is the job_exec of the long runs that only one agent has.
func ownExec(agent string) string { return "own-" + agent }

// work is the payload of a long run: its steps, and how long each takes.
type work struct {
	Steps int `json:"steps"`
	MS    int `json:"ms"`
}

// untilStopped is the work of a run that never ends by itself.
const untilStopped = `{"steps": 1000000, "ms": 50}`

// AsChild is an agent in a process of its own: what it is to be comes on stdin. SIGTERM drains it.
func AsChild(args []string) (handled bool, err error) {
	if len(args) != 1 || args[0] != childName {
		return false, nil
	}
	var a asked
	if err := json.NewDecoder(os.Stdin).Decode(&a); err != nil {
		return true, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return true, a.work(ctx)
}

func (a asked) work(ctx context.Context) error {
	db, err := connect.Open(a.DSN, a.Lease)
	if err != nil {
		return err
	}
	defer db.Close()
	registry := prescient.NewRegistry()
	registry.MustRegister("short", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	var runner *longrun.Runner
	if a.Capacity > 0 {
		if runner, err = longrun.New(ctx, db, longrun.Options{Name: a.Name, Lease: a.Lease, Pools: map[string]int{pool: a.Capacity}}); err != nil {
			return err
		}
		if err := a.register(ctx, db, runner, registry); err != nil {
			return err
		}
	}
	w, err := worker.New(ctx, db, worker.Options{Registry: registry, Name: a.Name, Times: worker.Times{Lease: a.Lease}})
	if err != nil {
		return err
	}
	if runner == nil {
		return w.Work(ctx)
	}
	known, err := agent.New(ctx, db, agent.Options{Name: a.Name, Pools: map[string]int{pool: a.Capacity}, Concurrency: worker.DefaultConcurrency, Calling: w.CallTime, LongRuns: runner.Running})
	if err != nil {
		return err
	}
	present, leave := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	beside.Go(func() { known.Run(present) })
	beside.Go(func() { runner.Serve(ctx) })
	drained := make(chan error, 1)
	go func() {
		<-ctx.Done()
		known.Stopping()
		grace, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		drained <- runner.Drain(grace)
	}()
	err = errors.Join(w.Work(ctx), <-drained)
	leave()
	beside.Wait()
	return err
}

// register registers long runs.
func (a asked) register(ctx context.Context, db *sqlx.DB, runner *longrun.Runner, registry *prescient.Registry) error {
	guards := prescient.Guards{MaxErrors: 100}
	if err := runner.RegisterIn(pool, registry, "export", a.export(db), guards); err != nil {
		return err
	}
	// This one never claims: slot runs offer what it has registered.
	others, err := longrun.New(ctx, db, longrun.Options{Name: a.Name + " for others", Lease: a.Lease})
	if err != nil {
		return err
	}
	for _, name := range a.Seated {
		whose := others
		if name == a.Name {
			whose = runner
		}
		if err := whose.RegisterIn(pool, registry, ownExec(name), a.export(db), guards); err != nil {
			return err
		}
	}
	return nil
}

// export notes its call, and does its steps, each with a checkpoint.
func (a asked) export(db *sqlx.DB) longrun.Func {
	return func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
		var w work
		if err := json.Unmarshal(run.Job().Payload, &w); err != nil {
			return nil, err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO bench_call (entity_key, agent) VALUES (?, ?)", run.Job().EntityKey, a.Name); err != nil {
			return nil, err
		}
		for step := range w.Steps {
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(time.Duration(w.MS) * time.Millisecond):
			}
			if step+1 == w.Steps {
				break
			}
			if err := run.Save(ctx, fmt.Append(nil, step)); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
}

// child is an agent's process.
type child struct {
	asked
	cmd *exec.Cmd
}

// start starts an agent.
func (st *stage) start(ctx context.Context, a asked) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a.DSN = st.DSN(st.Name)
	c := &child{asked: a, cmd: exec.CommandContext(ctx, self, childName)}
	c.cmd.Stderr = os.Stderr
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	return c, errors.Join(json.NewEncoder(stdin).Encode(a), stdin.Close())
}

// signal sends it a signal.
func (c *child) signal(s os.Signal) { _ = c.cmd.Process.Signal(s) } // one that has ended says so at stop

// stop drains it, and waits for its end.
func (c *child) stop() error {
	c.signal(syscall.SIGTERM)
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("agent %s: %w", c.Name, err)
	}
	return nil
}

// kill ends it at once.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	_ = c.cmd.Wait() // that it was killed is no news
}

// crew starts several agents, and says how they are stopped.
func (st *stage) crew(ctx context.Context, n int, each func(i int) asked) (all []*child, stop func() error, err error) {
	stop = func() error {
		var failed []error
		for _, c := range all {
			failed = append(failed, c.stop())
		}
		return errors.Join(failed...)
	}
	for i := range n {
		c, err := st.start(ctx, each(i))
		if err != nil {
			return all, stop, errors.Join(err, stop())
		}
		all = append(all, c)
	}
	return all, stop, nil
}

// named is an agent of a crew, by its number.
func named(capacity int, lease time.Duration) func(i int) asked {
	return func(i int) asked { return asked{Name: fmt.Sprint("agent-", i+1), Capacity: capacity, Lease: lease} }
}
