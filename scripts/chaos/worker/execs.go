package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/scripts/chaos/checker"
)

// Payload is what a check carries.
type Payload struct {
	ID int64 `json:"id"`
	N  int   `json:"n"` // how often to look again, or to fail, before it is settled
}

// Timeout of the calls that run into it. The others are not meant to, however busy the machine is: inTime is theirs, and
// inTimeTx that of calls in a transaction, so short that the server lets no transaction idle for longer because of it.
const (
	Timeout  = time.Second
	inTime   = 10 * time.Second
	inTimeTx = 2500 * time.Millisecond
)

// Outcomes is how the checks of each job_exec end, when nobody cancels them.
func Outcomes() map[string]string {
	ends := make(map[string]string)
	for name, e := range execs() {
		ends[name] = e.outcome
	}
	for _, name := range []string{RunExec, LongExec, PooledExec, LongRunExec} {
		ends[name] = "done"
	}
	return ends
}

// IsTx says which job_execs are a TxFunc, or a TxBatchFunc.
func IsTx() map[string]bool { return map[string]bool{"tx": true, "txagain": true, "txbatch": true} }

// exec is what a job_exec does between its two reports.
type exec struct {
	outcome string
	work    func(ctx context.Context, job prescient.FutureJob, p Payload) (*time.Time, error)
}

var errFlaky = errors.New("it fails on purpose")

// execs are the job_execs, but for those that need a transaction.
func execs() map[string]exec {
	settled := func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) { return nil, nil }
	return map[string]exec{
		"done":    {"done", settled},
		"tx":      {"done", settled},
		"again":   {"done", again},
		"txagain": {"done", again},
		"txbatch": {"done", again},
		"flaky": {"done", func(_ context.Context, job prescient.FutureJob, p Payload) (*time.Time, error) {
			if job.ErrorCount < p.N {
				return nil, errFlaky
			}
			return nil, nil
		}},
		"forever": {"max_checks", func(_ context.Context, job prescient.FutureJob, _ Payload) (*time.Time, error) {
			return prescient.At(job.NextCheckAt.Add(700 * time.Millisecond)), nil
		}},
		"slower": {"done", func(ctx context.Context, _ prescient.FutureJob, _ Payload) (*time.Time, error) {
			return nil, nap(ctx, 500*time.Millisecond)
		}},
		"slowforever": {"max_checks", func(ctx context.Context, job prescient.FutureJob, _ Payload) (*time.Time, error) {
			return prescient.At(job.NextCheckAt.Add(700 * time.Millisecond)), nap(ctx, 400*time.Millisecond)
		}},
		"failing": {"failed", func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) { return nil, errFlaky }},
		"past": {"past_return", func(_ context.Context, job prescient.FutureJob, _ Payload) (*time.Time, error) {
			return prescient.At(job.NextCheckAt), nil
		}},
		"year1":    {"past_return", fixed(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC))},
		"year0":    {"past_return", fixed(time.Time{})},
		"year9999": {"beyond_horizon", fixed(time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC))},
		"slow": {"done", func(ctx context.Context, _ prescient.FutureJob, p Payload) (*time.Time, error) {
			return nil, nap(ctx, time.Duration(100+p.N*100)*time.Millisecond)
		}},
		"panics": {"failed", func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) { panic("on purpose") }},
		"goexits": {"failed", func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) {
			runtime.Goexit()
			return nil, nil
		}},
		"hangs": {"timed_out", func(ctx context.Context, _ prescient.FutureJob, _ Payload) (*time.Time, error) {
			return nil, nap(ctx, time.Hour)
		}},
		"deaf": {"timed_out", func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) {
			time.Sleep(Timeout + 700*time.Millisecond)
			return nil, nil
		}},
		"exits": {"crashed", func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) { os.Exit(5); return nil, nil }},
		"hungry": {"crashed", func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) {
			for all := [][]byte{}; ; runtime.KeepAlive(all) {
				all = append(all, make([]byte, 64<<20)) // address space is what it may not have
			}
		}},
	}
}

// again looks N times more, at times off the grid.
func again(_ context.Context, job prescient.FutureJob, p Payload) (*time.Time, error) {
	if job.CheckCount < p.N {
		return prescient.At(job.NextCheckAt.Add(1234567 * time.Microsecond)), nil
	}
	return nil, nil
}

func fixed(t time.Time) func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) {
	return func(context.Context, prescient.FutureJob, Payload) (*time.Time, error) { return &t, nil }
}

func nap(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Job_execs of outsiders, whose calls nobody reports: each check of Refused fails at once, each of Foretold is done after some milliseconds.
const (
	Refused  = "refused"
	Foretold = "foretold"
)

const foretoldTakes = 5 * time.Millisecond

// register registers them all, each between its two reports.
func register(registry *prescient.Registry, checks *reporter, prefix string) error {
	err := errors.Join(
		registry.Register(Refused, func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errFlaky }, prescient.Guards{MaxErrors: prescient.None}),
		registry.Register(Foretold, func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			return nil, nap(ctx, foretoldTakes)
		}, prescient.Guards{}))
	if err != nil {
		return err
	}
	for name, e := range execs() {
		guards := prescient.Guards{Timeout: inTime}
		switch {
		case e.outcome == "timed_out":
			guards.Timeout = Timeout
		case IsTx()[name]:
			guards.Timeout = inTimeTx
		}
		var err error
		inTx := func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			return reported(checks, e, ctx, job, func(p Payload) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO "+prefix+"effects (id, checks) VALUES (?, ?)", p.ID, job.CheckCount)
				return err
			})
		}
		switch {
		case name == "txbatch":
			err = registry.RegisterTxBatch(name, func(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
				for i, job := range batch.Jobs() {
					next, err := inTx(ctx, tx, job)
					if err != nil {
						return err
					}
					if batch.Settle(i); next != nil {
						batch.Next(i, *next)
					}
				}
				return nil
			}, guards)
		case IsTx()[name]:
			err = registry.RegisterTx(name, inTx, guards)
		default:
			err = registry.Register(name, func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
				return reported(checks, e, ctx, job, func(Payload) error { return nil })
			}, guards)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reported is a call with its reports.
func reported(checks *reporter, e exec, ctx context.Context, job prescient.FutureJob, effect func(Payload) error) (*time.Time, error) {
	var p Payload
	if err := json.Unmarshal(job.Payload, &p); err != nil {
		return nil, fmt.Errorf("payload: %w", err)
	}
	event := checker.Event{Kind: checker.Call, ID: p.ID, Key: job.EntityKey, Exec: job.JobExec, Revision: job.Revision,
		Slot: job.NextCheckAt, Due: job.DueAt, ExpiresAt: job.ExpiresAt, Checks: job.CheckCount, Errors: job.ErrorCount}
	event.N = checks.note(event)
	err := effect(p)
	var next *time.Time
	if err == nil {
		next, err = e.work(ctx, job, p)
	}
	event.Kind, event.Next, event.Failed = checker.Answer, next, err != nil
	checks.note(event)
	return next, err
}
