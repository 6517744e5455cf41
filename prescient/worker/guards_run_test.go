package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/books"
)

// Each guard ends a job with its own outcome, and says why.
func TestEveryGuardEndsWithItsOutcome(t *testing.T) {
	t.Parallel()
	answers := func(next *time.Time, err error) prescient.Func {
		return func(context.Context, prescient.FutureJob) (*time.Time, error) { return next, err }
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := prescient.NewRegistry()
		execs.MustRegister("settles", answers(nil, nil), prescient.Guards{})
		execs.MustRegister("in-the-past", answers(prescient.At(rig.At("13:15")), nil), prescient.Guards{})
		execs.MustRegister("year-1", answers(&time.Time{}, nil), prescient.Guards{})
		execs.MustRegister("year-9999", answers(prescient.At(time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)), nil), prescient.Guards{})
		execs.MustRegister("too-often", answers(prescient.At(rig.At("14:00")), nil), prescient.Guards{MaxChecks: prescient.None})
		execs.MustRegister("fails", answers(nil, errors.New("no such luck: \x00\xff")), prescient.Guards{MaxErrors: prescient.None})
		execs.MustRegister("panics", func(context.Context, prescient.FutureJob) (*time.Time, error) { panic("boo") }, prescient.Guards{MaxErrors: prescient.None})
		execs.MustRegister("goes-away", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			runtime.Goexit()
			return nil, nil
		}, prescient.Guards{MaxErrors: prescient.None})
		execs.MustRegister("is-slow", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, prescient.Guards{MaxErrors: prescient.None, Timeout: 50 * time.Millisecond})
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		execs.MustRegister("hangs", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			<-hang
			return nil, nil
		}, prescient.Guards{MaxErrors: prescient.None, Timeout: 50 * time.Millisecond})

		want := map[string]struct {
			outcome prescient.Outcome
			why     string
		}{
			"settles":     {prescient.Done, ""},
			"in-the-past": {prescient.PastReturn, "not after its slot"},
			"year-1":      {prescient.PastReturn, "0001-01-01"},
			"year-9999":   {prescient.BeyondHorizon, "9999"},
			"too-often":   {prescient.MaxChecks, "0 are allowed"},
			"fails":       {prescient.Failed, "no such luck: ��"},
			"panics":      {prescient.Failed, "boo"},
			"goes-away":   {prescient.Failed, "Goexit"},
			"is-slow":     {prescient.TimedOut, "50ms"},
			"hangs":       {prescient.TimedOut, "ignored"},
		}
		for name := range want {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: name, DueAt: rig.At("13:15")})
		}
		figures := r.runAt(rig.At("13:15:00.5"), execs, Options{})
		if figures.Ended() != len(want) || figures.Done != 1 || figures.PastReturn != 2 || figures.Failed != 3 || figures.TimedOut != 2 {
			t.Errorf("figures: %+v", figures)
		}
		for _, end := range r.History() {
			w := want[end.JobExec]
			if end.Outcome != w.outcome || !strings.Contains(end.Error, w.why) || w.why == "" && end.Error != "" {
				t.Errorf("%s ended as %s (%q); want %s (%q)", end.JobExec, end.Outcome, end.Error, w.outcome, w.why)
			}
			delete(want, end.JobExec)
		}
		if len(want) > 0 || len(r.Pending()) > 0 {
			t.Errorf("without an end: %v, still pending: %v", want, r.Pending())
		}
		r.Balanced()
	})
}

func TestErrorsAreRetriedWithGrowingDistanceUntilTheSixthInARow(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := rig.Registry("fails", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errors.New("not yet") }, prescient.Guards{})
		r.Insert(rig.At("12:50"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "fails", DueAt: rig.At("13:00")})
		// 1, 2, 4, 8 and 16 slots after the one before.
		for i, slot := range []string{"13:00", "13:15", "13:45", "14:45", "16:45", "20:45"} {
			left := r.Pending()
			if len(left) != 1 || !left[0].NextCheckAt.Equal(rig.At(slot)) || left[0].ErrorCount != i || !left[0].DueAt.Equal(rig.At("13:00")) {
				t.Fatalf("before error %d: %+v; want slot %s", i+1, left, slot)
			}
			r.runAt(rig.At(slot), execs, Options{})
		}
		ends := r.History()
		if len(ends) != 1 || ends[0].Outcome != prescient.Failed || ends[0].ErrorCount != 6 || ends[0].CheckCount != 0 {
			t.Fatalf("ends: %+v", ends)
		}
	})
}

func TestAnUnknownJobExecIsPutOffAndNeverEnded(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("12:50"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "not-here", DueAt: rig.At("13:00")})
		for _, slot := range []string{"13:00", "13:15", "13:45", "14:45", "16:45", "20:45"} {
			left := r.Pending()
			if len(left) != 1 || !left[0].NextCheckAt.Equal(rig.At(slot)) {
				t.Fatalf("pending: %+v; want slot %s", left, slot)
			}
			if f := r.runAt(rig.At(slot), prescient.NewRegistry(), Options{}); f.PutOff != 1 {
				t.Fatalf("figures: %+v", f)
			}
		}
		left := r.Pending()
		if len(left) != 1 || left[0].PutOffCount != 6 || left[0].CheckCount != 0 || !strings.Contains(left[0].LastError, "not-here") {
			t.Fatalf("pending: %+v", left)
		}
	})
}

// One job_exec that hangs or fails does not hold up the others of the slot, however many rows it has.
func TestASlowJobExecDoesNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const slowRows, fastRows = 300, 300
		var jobs []prescient.NewJob
		for i := range slowRows {
			jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "slow", DueAt: rig.At("13:15")})
		}
		for i := range fastRows {
			jobs = append(jobs, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "fast", DueAt: rig.At("13:15")})
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		fast := make(chan struct{}, fastRows)
		release := make(chan struct{})
		execs := prescient.NewRegistry()
		execs.MustRegister("fast", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			fast <- struct{}{}
			return nil, nil
		}, prescient.Guards{})
		execs.MustRegister("slow", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			<-release
			return nil, nil
		}, prescient.Guards{Concurrency: 4})
		// Batches of 20: the slow rows fill what is in memory many times over.
		w := r.worker(rig.At("13:15"), execs, Options{Load: Load{Batch: 20, Concurrency: 8}})
		done := make(chan books.Figures)
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
			case <-time.After(time.Minute):
				t.Fatal("the fast rows are held up")
			}
		}
		// They are committed, too, while the slow ones are still at it.
		r.Eventually("the fast rows are in history", func() bool { return r.Count(rig.CountEnded) == fastRows })
		close(release)
		if figures := <-done; figures.Done != slowRows+fastRows {
			t.Fatalf("figures: %+v", figures)
		}
		r.Balanced()
	})
}

func TestRowsOfAJobExecWithTooManyAbandonedCallsArePutOff(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for i := range 10 {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "hangs", DueAt: rig.At("13:15")})
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "fast", DueAt: rig.At("13:15")})
		}
		hang := make(chan struct{})
		t.Cleanup(func() { close(hang) })
		execs := prescient.NewRegistry()
		execs.MustRegister("fast", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		execs.MustRegister("hangs", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			<-hang
			return nil, nil
		}, prescient.Guards{Timeout: 20 * time.Millisecond, Concurrency: 3})
		figures := r.runAt(rig.At("13:15"), execs, Options{})
		// Three were abandoned and are retried as errors; the other seven were never called.
		if figures.Done != 10 || figures.Moved != 3 || figures.PutOff != 7 {
			t.Fatalf("figures: %+v", figures)
		}
		called := 0
		for _, job := range r.Pending() {
			if !job.NextCheckAt.Equal(rig.At("13:30")) {
				t.Errorf("waits for %s; want 13:30", job.NextCheckAt)
			}
			called += job.ErrorCount
		}
		if called != 3 {
			t.Errorf("%d errors; want 3", called)
		}
		r.Balanced()
	})
}
