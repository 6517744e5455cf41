package worker

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/scripts/chaos/wire"
	"prescient/slots"
)

func TestSlotsThatComeOnceMoreAreThoseBeforeTheOneAwaited(t *testing.T) {
	quarters, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := slots.NewGrid(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	halves, err := slots.ParseMinutes(quarters, "0,30")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		assigned     slots.Assignment
		awaited, now string
		want         string // none where the awaited one stays
	}{
		{"all is as it should be", slots.All(quarters), "13:15", "13:07", ""},
		{"the slot before has just been run", slots.All(quarters), "13:15", "13:00:00.000100", ""},
		{"it was run a moment early by this clock", slots.All(quarters), "13:15", "12:59:58.500000", ""},
		{"it comes once more", slots.All(quarters), "13:15", "12:59:57", "13:00"},
		{"set back by an hour", slots.All(quarters), "13:15", "12:07", "12:15"},
		{"set back by an hour, at a slot", slots.All(quarters), "13:15", "12:00", "12:15"},
		{"set back by a day", halves, "13:30", "00:01", "00:30"},
		{"its own slots lie further apart", halves, "13:30", "13:00:01", ""},
		{"none of its own lies between", halves, "13:30", "13:05", ""},
		{"one of its own does", halves, "13:30", "12:50", "13:00"},
		{"the slot has come", slots.All(quarters), "13:15", "13:15:01", ""},
		{"the clock was set forth", slots.All(quarters), "13:15", "17:00", ""},
		{"by the second, inexact", slots.All(seconds), "13:00:02", "13:00:00.950000", ""},
		{"by the second", slots.All(seconds), "13:00:02", "13:00:00.850000", "13:00:01"},
	} {
		next, back := comesBefore(c.assigned, rig.At(c.awaited), rig.At(c.now))
		if back != (c.want != "") || back && !next.Equal(rig.At(c.want)) {
			t.Errorf("%s: %s, %t; want %q", c.name, next, back, c.want)
		}
	}
}

// The server's clock is set back by many slots: those that come next by the new time are run as they come, not early, and
// before the old time is reached again. Nobody sweeps.
func TestWorkGoesByAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	const back = time.Hour
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		plan, err := wire.NewPlan(fmt.Sprintf(`[{"Since": "the clock is set back", "Match": "UTC_TIMESTAMP(6)", "Do": "rewrite",
			"From": "UTC_TIMESTAMP[(]6[)]", "To": "(UTC_TIMESTAMP(6) - INTERVAL %d SECOND)"}]`, int(back.Seconds())), 1)
		r.Must(err)
		pool := r.overNetwork("worker", time.Time{}, plan, 0)
		now := func() (now time.Time) { // as the worker sees it
			r.Must(pool.GetContext(context.WithoutCancel(t.Context()), &now, "SELECT UTC_TIMESTAMP(6)"))
			return now
		}
		var ran, early atomic.Int32
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if now().Before(job.NextCheckAt) {
				early.Add(1)
			}
			ran.Add(1)
			return nil, nil
		}, prescient.Guards{})
		var log lines
		w, err := New(t.Context(), pool, Options{Prefix: "p_", Registry: execs, Sweep: Sweep{Every: -1}, Log: zerolog.New(&log)})
		r.Must(err)
		insert := func(n int) { // a slot each, from soon on
			from := w.tables.Grid.Next(now()).Add(2 * time.Second)
			for i := range n {
				r.Insert(from.Add(-2*time.Second), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(from.Unix(), "-", i)}, JobExec: "check",
					DueAt: from.Add(time.Duration(i) * time.Second)})
			}
		}
		insert(2)
		stop := r.startWork(w)
		r.Eventually("those of the old time have run", func() bool { return ran.Load() == 2 })
		_, err = pool.ExecContext(t.Context(), "DO 'the clock is set back'")
		r.Must(err)
		insert(5)
		r.Eventually("those of the new time have run", func() bool { return ran.Load() == 7 })
		r.Must(stop())
		if early.Load() > 0 || len(r.Pending()) > 0 {
			t.Errorf("%d ran early, %d are pending", early.Load(), len(r.Pending()))
		}
		if n := log.count("was set back"); n != 1 {
			t.Errorf("%d warnings", n)
		}
	})
}

// The server's clock is set forth by many slots: those that come next by the new time are run as they come, not late by as much.
func TestWorkGoesByAClockThatWasSetForth(t *testing.T) {
	t.Parallel()
	const forth = time.Hour
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		plan, err := wire.NewPlan(fmt.Sprintf(`[{"Since": "the clock is set forth", "Match": "UTC_TIMESTAMP(6)", "Do": "rewrite",
			"From": "UTC_TIMESTAMP[(]6[)]", "To": "(UTC_TIMESTAMP(6) + INTERVAL %d SECOND)"}]`, int(forth.Seconds())), 1)
		r.Must(err)
		pool := r.overNetwork("worker", time.Time{}, plan, 0)
		ran := make(chan time.Time, 100)
		w, err := New(t.Context(), pool, Options{Prefix: "p_", Registry: prescient.NewRegistry(), Sweep: Sweep{Every: -1}, Log: zerolog.Nop(),
			Observer: &Observer{SlotRun: func(figures books.Figures, _ error) { ran <- figures.Slot }}})
		r.Must(err)
		stop := r.startWork(w)
		was := <-ran
		_, err = pool.ExecContext(t.Context(), "DO 'the clock is set forth'")
		r.Must(err)
		var slot time.Time
		for range 5 {
			slot = <-ran
		}
		r.Must(stop())
		if slot.Sub(was) < forth {
			t.Errorf("five runs later it runs slot %s, %s late", slots.Stamp(slot), forth)
		}
	})
}

// Slots that are a second apart leave no time for a look before each; the clock is looked at all the same, now and then.
func TestTheClockIsLookedAtAlsoWhereSlotsFollowCloselyOnOneAnother(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
		w := r.worker(time.Time{}, prescient.NewRegistry(), Options{})
		now, err := w.Now(t.Context())
		r.Must(err)
		for name, c := range map[string]struct {
			age   time.Duration
			fresh bool
		}{"looked at lately": {time.Minute, false}, "long ago": {clockEvery + time.Minute, true}} {
			// The server's clock was set an hour forth since.
			old := store.Clock{Told: now.Add(-time.Hour - c.age), At: time.Now().Add(-c.age)}
			got, err := w.await(t.Context(), w.tables.Grid.Next(old.Now()), old, nil)
			r.Must(err)
			if fresh := got.Now().Sub(old.Now()) > 50*time.Minute; fresh != c.fresh {
				t.Errorf("%s: looked again: %t; want %t", name, fresh, c.fresh)
			}
		}
	})
}
