package prescient

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Each guard ends a job with its own outcome, and says why.
func TestEveryGuardEndsWithItsOutcome(t *testing.T) {
	answers := func(next *time.Time, err error) Func {
		return func(context.Context, FutureJob) (*time.Time, error) { return next, err }
	}
	eachServer(t, func(t *testing.T, r *rig) {
		execs := NewRegistry()
		execs.MustRegister("settles", answers(nil, nil), Guards{})
		execs.MustRegister("in-the-past", answers(At(at("13:15")), nil), Guards{})
		execs.MustRegister("year-1", answers(&time.Time{}, nil), Guards{})
		execs.MustRegister("year-9999", answers(At(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)), nil), Guards{})
		execs.MustRegister("too-often", answers(At(at("14:00")), nil), Guards{MaxChecks: None})
		execs.MustRegister("fails", answers(nil, errors.New("no such luck: \x00\xff")), Guards{MaxErrors: None})
		execs.MustRegister("panics", func(context.Context, FutureJob) (*time.Time, error) { panic("boo") }, Guards{MaxErrors: None})
		execs.MustRegister("goes-away", func(context.Context, FutureJob) (*time.Time, error) {
			runtime.Goexit()
			return nil, nil
		}, Guards{MaxErrors: None})
		execs.MustRegister("is-slow", func(ctx context.Context, _ FutureJob) (*time.Time, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, Guards{MaxErrors: None, Timeout: 50 * time.Millisecond})
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		execs.MustRegister("hangs", func(context.Context, FutureJob) (*time.Time, error) {
			<-hang
			return nil, nil
		}, Guards{MaxErrors: None, Timeout: 50 * time.Millisecond})

		want := map[string]struct {
			outcome Outcome
			why     string
		}{
			"settles":     {Done, ""},
			"in-the-past": {PastReturn, "not after its slot"},
			"year-1":      {PastReturn, "0001-01-01"},
			"year-9999":   {BeyondHorizon, "9999"},
			"too-often":   {MaxChecks, "0 are allowed"},
			"fails":       {Failed, "no such luck: ��"},
			"panics":      {Failed, "boo"},
			"goes-away":   {Failed, "Goexit"},
			"is-slow":     {TimedOut, "50ms"},
			"hangs":       {TimedOut, "ignored"},
		}
		for name := range want {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", "1"}, JobExec: name, DueAt: at("13:15")})
		}
		figures := r.runAt(at("13:15:00.5"), execs, WorkerOptions{})
		if figures.Ended() != len(want) || figures.Done != 1 || figures.PastReturn != 2 || figures.Failed != 3 || figures.TimedOut != 2 {
			t.Errorf("figures: %+v", figures)
		}
		for _, end := range r.history() {
			w := want[end.JobExec]
			if end.Outcome != w.outcome || !strings.Contains(end.Error, w.why) || w.why == "" && end.Error != "" {
				t.Errorf("%s ended as %s (%q); want %s (%q)", end.JobExec, end.Outcome, end.Error, w.outcome, w.why)
			}
			delete(want, end.JobExec)
		}
		if len(want) > 0 || len(r.pending()) > 0 {
			t.Errorf("without an end: %v, still pending: %v", want, r.pending())
		}
		r.balanced()
	})
}

func TestErrorsAreRetriedWithGrowingDistanceUntilTheSixthInARow(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		execs := registry("fails", func(context.Context, FutureJob) (*time.Time, error) { return nil, errors.New("not yet") }, Guards{})
		r.insert(at("12:50"), NewJob{Entity: Entity{"order", "1"}, JobExec: "fails", DueAt: at("13:00")})
		// 1, 2, 4, 8 and 16 slots after the one before.
		for i, slot := range []string{"13:00", "13:15", "13:45", "14:45", "16:45", "20:45"} {
			left := r.pending()
			if len(left) != 1 || !left[0].NextCheckAt.Equal(at(slot)) || left[0].ErrorCount != i || !left[0].DueAt.Equal(at("13:00")) {
				t.Fatalf("before error %d: %+v; want slot %s", i+1, left, slot)
			}
			r.runAt(at(slot), execs, WorkerOptions{})
		}
		ends := r.history()
		if len(ends) != 1 || ends[0].Outcome != Failed || ends[0].ErrorCount != 6 || ends[0].CheckCount != 0 {
			t.Fatalf("ends: %+v", ends)
		}
	})
}

func TestAnUnknownJobExecIsPutOffAndNeverEnded(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.insert(at("12:50"), NewJob{Entity: Entity{"order", "1"}, JobExec: "not-here", DueAt: at("13:00")})
		for _, slot := range []string{"13:00", "13:15", "13:45", "14:45", "16:45", "20:45"} {
			left := r.pending()
			if len(left) != 1 || !left[0].NextCheckAt.Equal(at(slot)) {
				t.Fatalf("pending: %+v; want slot %s", left, slot)
			}
			if f := r.runAt(at(slot), NewRegistry(), WorkerOptions{}); f.PutOff != 1 {
				t.Fatalf("figures: %+v", f)
			}
		}
		left := r.pending()
		if len(left) != 1 || left[0].PutOffCount != 6 || left[0].CheckCount != 0 || !strings.Contains(left[0].LastError, "not-here") {
			t.Fatalf("pending: %+v", left)
		}
	})
}

// One job_exec that hangs or fails does not hold up the others of the slot, however many rows it has.
func TestASlowJobExecDoesNotHoldUpTheOthers(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const slowRows, fastRows = 300, 300
		var jobs []NewJob
		for i := range slowRows {
			jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "slow", DueAt: at("13:15")})
		}
		for i := range fastRows {
			jobs = append(jobs, NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "fast", DueAt: at("13:15")})
		}
		_, err := r.client.InsertMany(t.Context(), r.appAt(at("13:00")), jobs)
		r.must(err)
		fast := make(chan struct{}, fastRows)
		release := make(chan struct{})
		execs := NewRegistry()
		execs.MustRegister("fast", func(context.Context, FutureJob) (*time.Time, error) {
			fast <- struct{}{}
			return nil, nil
		}, Guards{})
		execs.MustRegister("slow", func(context.Context, FutureJob) (*time.Time, error) {
			<-release
			return nil, nil
		}, Guards{Concurrency: 4})
		// Batches of 20: the slow rows fill what is in memory many times over.
		w := r.worker(at("13:15"), execs, WorkerOptions{Batch: 20, Concurrency: 8})
		done := make(chan Figures)
		go func() {
			figures, err := w.Run(t.Context())
			if err != nil {
				t.Error(err)
			}
			done <- figures
		}()
		for range fastRows {
			select {
			case <-fast:
			case <-time.After(30 * time.Second):
				t.Fatal("the fast rows are held up")
			}
		}
		// They are committed, too, while the slow ones are still at it.
		r.eventually("the fast rows are in history", func() bool { return len(r.history()) == fastRows })
		close(release)
		if figures := <-done; figures.Done != slowRows+fastRows {
			t.Fatalf("figures: %+v", figures)
		}
		r.balanced()
	})
}

func TestRowsOfAJobExecWithTooManyAbandonedCallsArePutOff(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for i := range 10 {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "hangs", DueAt: at("13:15")})
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "fast", DueAt: at("13:15")})
		}
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		execs := NewRegistry()
		execs.MustRegister("fast", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		execs.MustRegister("hangs", func(context.Context, FutureJob) (*time.Time, error) {
			<-hang
			return nil, nil
		}, Guards{Timeout: 20 * time.Millisecond, Concurrency: 3})
		figures := r.runAt(at("13:15"), execs, WorkerOptions{})
		// Three were abandoned and are retried as errors; the other seven were never called.
		if figures.Done != 10 || figures.Moved != 3 || figures.PutOff != 7 {
			t.Fatalf("figures: %+v", figures)
		}
		called := 0
		for _, job := range r.pending() {
			if !job.NextCheckAt.Equal(at("13:30")) {
				t.Errorf("waits for %s; want 13:30", job.NextCheckAt)
			}
			called += job.ErrorCount
		}
		if called != 3 {
			t.Errorf("%d errors; want 3", called)
		}
		r.balanced()
	})
}
