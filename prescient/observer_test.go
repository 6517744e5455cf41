package prescient

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"
)

// told is what an observer was told.
type told struct {
	mu      sync.Mutex
	answers map[string]Answer // by job_exec
	runs    []Figures
}

func (o *told) observer() *Observer {
	o.answers = make(map[string]Answer)
	return &Observer{
		SlotRun: func(f Figures, _ error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.runs = append(o.runs, f)
		},
		Answered: func(list []Answer) {
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, a := range list {
				o.answers[a.Job.JobExec] = a
			}
		},
	}
}

func TestAnObserverIsToldOfEveryCommittedAnswer(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		execs := NewRegistry()
		execs.MustRegister("settles", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		execs.MustRegister("goes-on", func(context.Context, FutureJob) (*time.Time, error) { return At(at("14:05")), nil }, Guards{})
		execs.MustRegister("fails", func(context.Context, FutureJob) (*time.Time, error) { return nil, errors.New("no luck") }, Guards{MaxErrors: None})
		execs.MustRegister("cancelled", func(context.Context, FutureJob) (*time.Time, error) {
			cancels(t, r, Entity{"order", "2"})
			return nil, nil
		}, Guards{})
		for _, name := range []string{"settles", "goes-on", "fails", "nobody-knows-it"} {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", "1"}, JobExec: name, DueAt: at("13:15")})
		}
		r.insert(at("13:00"), NewJob{Entity: Entity{"order", "2"}, JobExec: "cancelled", DueAt: at("13:15")})
		var heard told
		figures := r.runAt(at("13:15:01"), execs, WorkerOptions{Observer: heard.observer()})
		if len(heard.runs) != 1 || !reflect.DeepEqual(heard.runs[0], figures) {
			t.Errorf("told of the runs %+v, want %+v", heard.runs, figures)
		}
		for name, want := range map[string]Answer{
			"settles":         {Outcome: Done, Called: true},
			"goes-on":         {Next: at("14:15"), Called: true, DueAt: at("14:05")},
			"fails":           {Outcome: Failed, Called: true, Reason: "no luck"},
			"cancelled":       {Outcome: Done, Called: true, Dropped: true},
			"nobody-knows-it": {Unregistered: true, Next: at("13:30"), Reason: `job_exec "nobody-knows-it" is not registered with the worker that serves the slot`},
		} {
			got := heard.answers[name]
			if got.Outcome != want.Outcome || got.Called != want.Called || got.Unregistered != want.Unregistered || got.Dropped != want.Dropped || got.Reason != want.Reason ||
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
	eachServer(t, func(t *testing.T, r *rig) {
		var heard told
		observer := heard.observer()
		ctx, cancel := context.WithCancel(t.Context())
		observer.Working = cancel
		r.must(r.worker(time.Time{}, NewRegistry(), WorkerOptions{Observer: observer}).Work(ctx))
		if ctx.Err() == nil {
			t.Error("it was not told")
		}
	})
}
