package prescienttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var order = prescient.Entity{Name: "order", Key: "42"}

// eachFlavour runs a test on one server of each flavour, with a registry whose check answers what answers say, in turn, and then nil.
func eachFlavour(t *testing.T, options Options, answers []answer, test func(t *testing.T, k *Kit)) {
	t.Parallel()
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		options := options
		options.DSN = servertest.New(t, flavour).DSN
		registry := prescient.NewRegistry()
		registry.MustRegister("check", inTurn(answers), prescient.Guards{})
		test(t, New(t, registry, options))
	})
}

type answer struct {
	next time.Time
	err  error
}

func inTurn(answers []answer) prescient.Func {
	n := 0
	return func(context.Context, prescient.FutureJob) (*time.Time, error) {
		if n >= len(answers) {
			return nil, nil
		}
		a := answers[n]
		n++
		if a.err != nil {
			return nil, a.err
		}
		return &a.next, nil
	}
}

func noon(d time.Duration) time.Time { return DefaultStart.Add(d) }

func TestEachSlotIsRunWhenItComes(t *testing.T) {
	answers := []answer{{next: noon(4 * time.Hour)}, {err: errors.New("no luck")}}
	eachFlavour(t, Options{}, answers, func(t *testing.T, k *Kit) {
		k.Insert(prescient.NewJob{Entity: order, JobExec: "check", DueAt: k.Now().Add(3*time.Hour - time.Second)})
		k.RunFor(3*time.Hour - time.Minute)
		k.RequirePendingAt(noon(3*time.Hour), order, "check")
		k.RequireCalls("check", 0)

		k.RunFor(time.Minute)
		k.RequirePendingAt(noon(4*time.Hour), order, "check")
		k.RunUntil(noon(4 * time.Hour))
		if job := k.RequirePending(order, "check"); job.LastError != "no luck" || job.CheckCount != 1 {
			t.Errorf("pending is %+v", job)
		}
		if figures := k.RunFor(24 * time.Hour); len(figures) != 1 || figures[0].Done != 1 {
			t.Errorf("figures: %+v", figures)
		}
		if end := k.RequireEnded(order, "check", prescient.Done); *end.LatenessMS > 60_000 {
			t.Errorf("late by %d ms, though it was run when its slot came", *end.LatenessMS)
		}
		k.RequireNothingPending(prescient.Entity{})
		if calls := k.RequireCalls("check", 3); !calls[1].Job.NextCheckAt.Equal(noon(4*time.Hour)) || calls[1].Reason != "no luck" {
			t.Errorf("calls: %+v", calls)
		}
		if !k.Now().Equal(noon(28 * time.Hour)) {
			t.Errorf("it is %s", k.Now())
		}
	})
}

func TestRunDueCatchesUpAsAfterAnOutage(t *testing.T) {
	eachFlavour(t, Options{}, nil, func(t *testing.T, k *Kit) {
		for i := range 3 {
			k.Insert(prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: noon(time.Duration(i+1) * time.Hour)})
		}
		k.Advance(2*time.Hour + time.Minute)
		k.RunDue()
		k.RequireCalls("check", 2)
		if first := k.Calls("")[0]; first.Job.EntityKey != "0" || first.Lateness < time.Hour || first.Lateness > 70*time.Minute {
			t.Errorf("the first call was %+v, want that of an hour ago", first)
		}
		k.RequirePending(prescient.Entity{Name: "order", Key: "2"}, "check")
	})
}

// A worker that is started this close before a slot waits for it, which a clock that stands still would never end.
func TestJustBeforeASlotNothingOfItIsRun(t *testing.T) {
	eachFlavour(t, Options{Start: DefaultStart.Add(15*time.Minute - time.Microsecond)}, nil, func(t *testing.T, k *Kit) {
		k.Insert(prescient.NewJob{Entity: order, JobExec: "check", DueAt: noon(15 * time.Minute)})
		k.RunDue()
		k.RequireCalls("", 0)
		k.Advance(time.Microsecond)
		k.RunDue()
		k.RequireCalls("", 1)
	})
}

func TestConnectionsFollowTheClock(t *testing.T) {
	eachFlavour(t, Options{Prefix: "p_", Resolution: time.Minute}, nil, func(t *testing.T, k *Kit) {
		for _, want := range []time.Time{DefaultStart, noon(90 * time.Minute).Add(123456 * time.Microsecond), noon(-24 * time.Hour)} {
			k.At(want)
			var said time.Time
			k.must(k.DB().Get(&said, "SELECT UTC_TIMESTAMP(6)"))
			if !said.Equal(want) || !k.Now().Equal(want) {
				t.Errorf("the server says %s and the kit %s, want %s", said, k.Now(), want)
			}
		}
		tx, err := k.DB().Beginx()
		k.must(err)
		did, err := k.Client().Insert(t.Context(), tx, prescient.NewJob{Entity: order, JobExec: "check", DueAt: k.Now()})
		k.must(err)
		k.must(tx.Commit())
		k.RequirePendingAt(noon(-24*time.Hour+time.Minute), order, "check")
		if !did.Slot.Equal(noon(-24*time.Hour + time.Minute)) {
			t.Errorf("placed in %s", did.Slot)
		}
		if n := k.Cancel(order); n != 1 {
			t.Errorf("%d were cancelled", n)
		}
		k.RequireEnded(order, "check", prescient.Cancelled)
	})
}

// failing is a test that notes why it failed, rather than fail.
type failing struct {
	testing.TB
	why string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.why = fmt.Sprintf(format, args...)
	panic(f)
}

// whyNot returns how a requirement fails.
func whyNot(k *Kit, require func(k *Kit)) (why string) {
	f := &failing{TB: k.t}
	defer func() {
		if p := recover(); p != nil && p != any(f) {
			panic(p)
		}
		why = f.why
	}()
	other := &Kit{t: f, options: k.options, grid: k.grid, config: k.config, db: k.db, registry: k.registry, client: k.client, calls: k.calls}
	other.clock.set(k.Now())
	require(other)
	return ""
}

func TestRequirementsSayWhatIsThereInstead(t *testing.T) {
	eachFlavour(t, Options{}, []answer{{err: errors.New("no luck")}}, func(t *testing.T, k *Kit) {
		k.Insert(prescient.NewJob{Entity: order, JobExec: "check", DueAt: noon(time.Hour)})
		k.Insert(prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "7"}, JobExec: "check", Tag: "b", DueAt: noon(2 * time.Hour)})
		k.RunFor(time.Hour)
		k.RunUntil(noon(2 * time.Hour))
		other := prescient.Entity{Name: "order", Key: "7"}
		for about, test := range map[string]struct {
			require func(k *Kit)
			says    string
		}{
			"pending, but ended": {func(k *Kit) { k.RequirePending(other, "check") }, "check of order/7 is not pending; check (b) ended as done at 2026-03-02 14:00:00"},
			"pending, but not":   {func(k *Kit) { k.RequirePending(prescient.Entity{Name: "no", Key: "1"}, "check") }, "there is nothing of this entity"},
			"other tag":          {func(k *Kit) { k.RequireEnded(other, "check", prescient.Done, "a") }, "check (a) of order/7 has not ended as done; check (b) ended"},
			"other outcome":      {func(k *Kit) { k.RequireEnded(other, "check", prescient.Failed) }, "ended as done (), want failed"},
			"other slot":         {func(k *Kit) { k.RequirePendingAt(noon(0), order, "check") }, "is not pending"},
			"too few calls":      {func(k *Kit) { k.RequireCalls("check", 9) }, "3 calls of check, want 9\n\tcheck for order/42 in the slot 2026-03-02 13:00:00"},
			"a time that no server shows": {func(k *Kit) { k.At(time.Date(2039, 1, 1, 0, 0, 0, 0, time.UTC)) },
				"cannot be set to 2039"},
		} {
			if why := whyNot(k, test.require); !strings.Contains(why, test.says) {
				t.Errorf("%s: it says %q, want %q", about, why, test.says)
			}
		}
		k.Insert(prescient.NewJob{Entity: order, JobExec: "check", DueAt: noon(5 * time.Hour)})
		if why := whyNot(k, func(k *Kit) { k.RequireEnded(order, "check", prescient.Done) }); !strings.Contains(why, "waits for the slot 2026-03-02 17:00:00") {
			t.Errorf("it says %q", why)
		}
		if why := whyNot(k, func(k *Kit) { k.RequirePendingAt(noon(6*time.Hour), order, "check") }); !strings.Contains(why, "waits for the slot 2026-03-02 17:00:00, want 2026-03-02 18:00:00") {
			t.Errorf("it says %q", why)
		}
		if why := whyNot(k, func(k *Kit) { k.RequireNothingPending(prescient.Entity{}) }); !strings.Contains(why, "1 checks are still pending: check of order/42") {
			t.Errorf("it says %q", why)
		}
	})
}

func TestAKitStartsAServerWhereItIsGivenNone(t *testing.T) {
	t.Setenv(dsnVariable, "")
	k := New(t, nil, Options{})
	k.Insert(prescient.NewJob{Entity: order, JobExec: "nobody-knows-it", DueAt: noon(time.Hour)})
	k.RunFor(time.Hour)
	if job := k.RequirePending(order, "nobody-knows-it"); job.PutOffCount != 1 {
		t.Errorf("pending is %+v", job)
	}
	k.RequireCalls("", 0)
}
