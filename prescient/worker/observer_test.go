package worker

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

// told is what an observer was told.
type told struct {
	mu      sync.Mutex
	answers map[string]Result // by job_exec
	runs    []books.Figures
	commits []Commit
}

func (o *told) observer() *Observer {
	o.answers = make(map[string]Result)
	return &Observer{
		SlotRun: func(f books.Figures, _ error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.runs = append(o.runs, f)
		},
		Committed: func(c Commit) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.commits = append(o.commits, c)
		},
		Answered: func(list []Result) {
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, a := range list {
				o.answers[a.Job.JobExec] = a
			}
		},
	}
}

func TestAnObserverIsToldOfEveryCommittedAnswer(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := prescient.NewRegistry()
		execs.MustRegister("settles", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		execs.MustRegister("goes-on", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			return prescient.At(rig.At("14:05")), nil
		}, prescient.Guards{})
		execs.MustRegister("fails", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errors.New("no luck") }, prescient.Guards{MaxErrors: prescient.None})
		execs.MustRegister("cancelled", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			r.Cancels(t, prescient.Entity{Name: "order", Key: "2"})
			return nil, nil
		}, prescient.Guards{})
		for _, name := range []string{"settles", "goes-on", "fails", "nobody-knows-it"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: name, DueAt: rig.At("13:15")})
		}
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "2"}, JobExec: "cancelled", DueAt: rig.At("13:15")})
		var heard told
		figures := r.runAt(rig.At("13:15:01"), execs, Options{Observer: heard.observer()})
		if len(heard.runs) != 1 || !reflect.DeepEqual(heard.runs[0], figures) {
			t.Errorf("told of the runs %+v, want %+v", heard.runs, figures)
		}
		if len(heard.commits) == 0 {
			t.Error("told of no commit")
		}
		for _, c := range heard.commits {
			if !c.Slot.Equal(rig.At("13:15")) || c.Took <= 0 || c.Err != nil {
				t.Errorf("told of the commit %+v", c)
			}
		}
		for name, want := range map[string]Result{
			"settles":         {Outcome: prescient.Done, Called: true},
			"goes-on":         {Next: rig.At("14:15"), Called: true, DueAt: rig.At("14:05")},
			"fails":           {Outcome: prescient.Failed, Called: true, Failed: true, Reason: "no luck"},
			"cancelled":       {Outcome: prescient.Done, Called: true, Dropped: true},
			"nobody-knows-it": {Unregistered: true, Next: rig.At("13:30"), Reason: `job_exec "nobody-knows-it" is not registered with the worker that serves the slot`},
		} {
			got := heard.answers[name]
			if got.Outcome != want.Outcome || got.Called != want.Called || got.Unregistered != want.Unregistered || got.Failed != want.Failed || got.Dropped != want.Dropped || got.Reason != want.Reason ||
				want.Outcome == "" && !got.Next.Equal(want.Next) || !want.DueAt.IsZero() && !got.DueAt.Equal(want.DueAt) {
				t.Errorf("%s: told of %+v, want %+v", name, got, want)
			}
			if got.Lateness < time.Second || got.Lateness > 30*time.Second {
				t.Errorf("%s: late by %s, want a second and a bit", name, got.Lateness)
			}
		}
	})
}

func TestAnObserverIsToldWhenWorkBegins(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var heard told
		observer := heard.observer()
		ctx, cancel := context.WithCancel(t.Context())
		observer.Working = cancel
		r.Must(r.worker(time.Time{}, prescient.NewRegistry(), Options{Observer: observer}).Work(ctx))
		if ctx.Err() == nil {
			t.Error("it was not told")
		}
	})
}

func TestAnObserverIsToldOfEachRowBeforeItIsCalled(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var mu sync.Mutex
		var order []string
		note := func(what string, jobs ...prescient.FutureJob) {
			mu.Lock()
			defer mu.Unlock()
			for _, job := range jobs {
				order = append(order, what+" "+job.JobExec)
			}
		}
		execs := prescient.NewRegistry()
		execs.MustRegister("one", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			note("called", job)
			return nil, nil
		}, prescient.Guards{})
		r.Must(execs.RegisterBatch("batch", func(_ context.Context, b *prescient.Batch) error {
			note("called", b.Jobs()...)
			return nil
		}, prescient.Guards{}))
		r.Must(execs.RegisterTx("tx", func(_ context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			note("called", job)
			return nil, nil
		}, prescient.Guards{}))
		r.Must(execs.RegisterTxBatch("tx-batch", func(_ context.Context, _ *sqlx.Tx, b *prescient.Batch) error {
			note("called", b.Jobs()...)
			return nil
		}, prescient.Guards{}))
		for _, name := range []string{"one", "batch", "tx", "tx-batch"} {
			order = nil
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: name, DueAt: rig.At("13:15")})
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "late"}, JobExec: name, DueAt: rig.At("13:15"), ExpiresAfter: time.Second})
			r.runAt(rig.At("13:15:10"), execs, Options{Observer: &Observer{Calling: func(job prescient.FutureJob) { note("calling", job) }}})
			if want := []string{"calling " + name, "called " + name}; !slices.Equal(order, want) {
				t.Errorf("%q; want %q", order, want)
			}
		}
	})
}
