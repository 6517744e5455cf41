package agent

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/slots"
)

// passes lets time pass by the rows of the agents.
func (r *testRig) passes(d time.Duration) {
	r.T.Helper()
	r.Exec("UPDATE p_agent SET started_at = started_at - INTERVAL ? MICROSECOND, seen_at = seen_at - INTERVAL ? MICROSECOND, due_at = due_at - INTERVAL ? MICROSECOND",
		d.Microseconds(), d.Microseconds(), d.Microseconds())
}

// comes is one call of a timer.
func (r *testRig) comes(o Options) {
	r.T.Helper()
	ctx, end := context.WithCancel(r.T.Context())
	end()
	r.agent(o).Run(ctx)
}

func (r *testRig) timer(kind Kind, assignment slots.Assignment) Options {
	o := r.options("")
	o.Kind, o.Assignment, o.Connections, o.Pools, o.Every = kind, assignment, 7, map[string]int{"heavy": 4}, time.Minute
	return o
}

func TestATimerIsListedBetweenItsCallsAndIsDeadOnceItDoesNotComeForItsSlot(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		half, err := slots.ParseShare(r.Tables().Grid, "2/2")
		r.Must(err)
		r.comes(r.timer(Run, half))
		r.comes(r.timer(Run, half)) // as another process
		all := r.list()
		if len(all) != 1 {
			t.Fatalf("%+v", all)
		}
		got := all[0]
		if got.Kind != Run || got.Name != "run" || got.State != Live || got.Assignment != "share 2/2" || len(got.Pools) != 0 || got.Connections != 0 || got.DueAt == nil || !half.Serves(*got.DueAt) {
			t.Errorf("%+v", got)
		}
		left := time.Until(got.DueAt.Add(got.Ahead))
		r.passes(left + DeadAfter - 5*time.Second)
		if got := r.list()[0]; got.State != Live {
			t.Errorf("before it is dead: %+v", got)
		}
		r.passes(10 * time.Second)
		if got := r.list()[0]; got.State != Dead {
			t.Errorf("after its slot: %+v", got)
		}
		// One that serves other slots, and one that stays up, take nothing off that; it itself does.
		other, err := slots.ParseShare(r.Tables().Grid, "1/2")
		r.Must(err)
		r.comes(r.timer(Run, other))
		if all := r.list(); len(all) != 2 {
			t.Errorf("beside another: %+v", all)
		}
		o := r.timer(Run, half)
		o.Name = "renamed"
		r.comes(o)
		if all := r.list(); len(all) != 2 || all[0].State != Live || all[1].State != Live {
			t.Errorf("once it is back: %+v", all)
		}
		r.passes(ForgottenAfter + time.Hour)
		r.comes(r.timer(Sweep, slots.Assignment{}))
		if all := r.list(); len(all) != 1 || all[0].Kind != Sweep {
			t.Errorf("after a day: %+v", all)
		}
	})
}

func TestATimerThatSweepsIsDeadOnceItIsSilentForTwiceItsDistance(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		o := r.timer(Sweep, slots.Assignment{})
		r.comes(o)
		r.passes(5 * time.Minute) // which it is called every, whatever is configured
		if got := r.list()[0]; got.Kind != Sweep || got.Assignment != "no slot" || got.State != Dead {
			t.Errorf("%+v", got)
		}
		r.comes(o)
		r.comes(o) // by hand
		r.passes(5 * time.Minute)
		if got := r.list()[0]; got.State != Live {
			t.Errorf("%+v", got)
		}
		r.comes(o)
		r.passes(10*time.Minute + DeadAfter + 2*time.Second)
		if got := r.list()[0]; got.State != Dead {
			t.Errorf("%+v", got)
		}
	})
}

func TestADeadAgentGoesOnceItsNameIsBack(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for i, name := range []string{"a", "b"} {
			r.Exec(`INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at)
				VALUES (?, ?, 'h', 1, 'v', 'every slot', '{}', 1, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 5 MINUTE)`, name, i)
		}
		if all := r.list(); len(all) != 2 || all[0].State != Dead || all[0].Kind != Work {
			t.Errorf("%+v", all)
		}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go r.agent(r.options("a")).Run(ctx)
		r.becomes("the dead of this name to be gone", func(all []Known) bool {
			return len(all) == 2 && all[0].Name == "a" && all[0].State == Live && all[1].Name == "b" && all[1].State == Dead
		})
	})
}

func TestADistanceOfSweepsIsWhatWasSeen(t *testing.T) {
	for _, test := range []struct{ configured, since, silent, want time.Duration }{
		{time.Minute, 0, 0, time.Minute},
		{time.Minute, 5 * time.Minute, 2 * time.Minute, 5 * time.Minute},
		{time.Minute, 5 * time.Second, 20 * time.Minute, 5 * time.Minute},
		{time.Minute, 48 * time.Hour, 0, 24 * time.Hour},
		{0, 0, 0, time.Second},
	} {
		if got := distance(test.configured, test.since, test.silent); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestATimerIsToComeForItsNextSlot(t *testing.T) {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for now, want := range map[string]string{"13:14:58.5": "13:30", "13:15:00": "13:30", "13:29:57": "13:30"} {
		got := new(timer).next(Options{Kind: Run, Assignment: slots.All(grid)}, rig.At(now))
		if !got.Equal(rig.At(want)) {
			t.Errorf("after %s it is to come at %s; want %s", now, got, want)
		}
	}
	if _, err := New(t.Context(), nil, Options{Kind: "cron"}); err == nil || !rig.Contains(err, prescient.ErrInvalid.Error(), "cron") {
		t.Errorf("%v", err)
	}
}
