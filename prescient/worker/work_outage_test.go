package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// The server goes away as a slot of a day comes, for longer than statements are tried again: the slot is run as soon as the
// server is back, and not a day later. The log has that once.
func TestAnOutageAtASlotsBoundaryCostsNoMoreThanTheOutage(t *testing.T) {
	t.Parallel()
	eachServerAt(t, 24*time.Hour, func(t *testing.T, r *testRig) {
		const patience = 100 * time.Millisecond
		slot := r.Tables().Grid.Floor(time.Now().UTC())
		r.Insert(slot.Add(-time.Hour), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: slot})
		var away atomic.Bool
		var h rig.Hooks
		h.OnStatement(func(string) error {
			if away.Load() {
				return rig.ErrConnection
			}
			return nil
		})
		called := make(chan time.Time, 1)
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			called <- time.Now()
			return nil, nil
		}, prescient.Guards{})
		var log lines
		back := make(chan time.Time, 1)
		w := r.hookedWorker(time.Time{}, &h, execs, Options{Times: Times{Patience: patience}, Sweep: Sweep{Every: -1}, Log: zerolog.New(&log),
			Observer: &Observer{Working: func() {
				away.Store(true)
				time.AfterFunc(20*patience, func() { back <- time.Now(); away.Store(false) })
			}}})
		most := r.lateness(5 * time.Second)
		stop := r.startWork(w)
		since := <-back
		select {
		case at := <-called:
			if late := at.Sub(since); late > most() {
				t.Errorf("called %s after the server was back", late)
			}
		case <-time.After(time.Minute):
			t.Error("not called after the server was back")
		}
		r.Eventually("it has ended", func() bool { return r.ends() == 1 })
		r.Must(stop())
		if n, m := log.count("tried again until the next slot"), log.count(`"level":"error"`); n != 1 || m != 0 {
			t.Errorf("%d warnings and %d errors in the log; want one that it is tried again", n, m)
		}
		if n := log.count(`"message":"slot run"`); n != 1 {
			t.Errorf("%d lines for the slot; want 1", n)
		}
	})
}

// What does not pass by itself is there at once again: the slot is left to the sweeper, and what was called is not called
// again and again until the next slot.
func TestARunThatCannotCommitIsNotTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	eachServerAt(t, 24*time.Hour, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Accounts)
		slot := r.Tables().Grid.Floor(time.Now().UTC())
		r.Insert(slot.Add(-time.Hour), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: slot})
		var c rig.Calls
		var log lines
		w := r.worker(time.Time{}, rig.Registry("check", c.Count, prescient.Guards{}), Options{Sweep: Sweep{Every: -1}, Log: zerolog.New(&log).Level(zerolog.DebugLevel)})
		r.Exec("REVOKE INSERT ON " + r.D.Name + ".p_job_history FROM '" + r.User("worker") + "'@'%'")
		stop := r.startWork(w)
		r.Eventually("the run has failed", func() bool { return log.count(`"level":"error"`) > 0 })
		r.Must(stop())
		c.EachOnce(t, 1)
		if n := len(r.Pending()); n != 1 {
			t.Errorf("%d rows are pending; want 1", n)
		}
	})
}

// A run that a timer starts is bounded by patience, and its error tells. Who sweeps takes the slot that is now, then.
func TestASlotWhoseOneShotFailedIsSwept(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("13:15")})
		var h rig.Hooks
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		w := r.hookedWorker(rig.At("13:15:01"), &h, execs, Options{Times: Times{Patience: 100 * time.Millisecond}})
		h.OnStatement(func(string) error { return rig.ErrConnection })
		began := time.Now()
		if _, err := w.Run(t.Context()); err == nil || time.Since(began) > 10*time.Second {
			t.Errorf("while the server is away: %v after %s", err, time.Since(began))
		}
		swept, err := r.worker(rig.At("13:16"), execs, Options{}).Sweep(t.Context())
		if err != nil || len(swept) != 1 || swept[0].Done != 1 {
			t.Errorf("swept %+v, %v", swept, err)
		}
		c.EachOnce(t, 1)
	})
}
