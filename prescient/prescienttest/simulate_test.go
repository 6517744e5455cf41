package prescienttest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient"
)

func TestALifeFollowsTheRules(t *testing.T) {
	no := errors.New("no luck")
	job := prescient.NewJob{Entity: order, JobExec: "check", DueAt: noon(time.Hour)}
	for about, test := range map[string]struct {
		answers []answer
		guards  prescient.Guards
		outcome prescient.Outcome
		calls   int
		last    time.Time // slot of the last check
	}{
		"settled at once":            {nil, prescient.Guards{}, prescient.Done, 1, noon(time.Hour)},
		"looked at again":            {[]answer{{next: noon(2 * time.Hour)}}, prescient.Guards{}, prescient.Done, 2, noon(2 * time.Hour)},
		"the past":                   {[]answer{{next: noon(0)}}, prescient.Guards{}, prescient.PastReturn, 1, noon(time.Hour)},
		"beyond the horizon":         {[]answer{{next: noon(31 * 24 * time.Hour)}}, prescient.Guards{Horizon: 24 * time.Hour}, prescient.BeyondHorizon, 1, noon(time.Hour)},
		"once too often":             {[]answer{{next: noon(2 * time.Hour)}, {next: noon(3 * time.Hour)}}, prescient.Guards{MaxChecks: 1}, prescient.MaxChecks, 2, noon(2 * time.Hour)},
		"errors wait 1 and 2 slots":  {[]answer{{err: no}, {err: no}}, prescient.Guards{}, prescient.Done, 3, noon(time.Hour + 45*time.Minute)},
		"one error too many":         {[]answer{{err: no}, {err: no}}, prescient.Guards{MaxErrors: 1}, prescient.Failed, 2, noon(time.Hour + 15*time.Minute)},
		"an error that says when":    {[]answer{{err: prescient.Retry(59 * time.Minute)}}, prescient.Guards{}, prescient.Done, 2, noon(2 * time.Hour)},
		"when it has expired":        {[]answer{{err: prescient.Retry(59 * time.Minute)}}, prescient.Guards{ExpiresAfter: 30 * time.Minute}, prescient.Expired, 1, noon(time.Hour)},
		"an error that is final":     {[]answer{{err: prescient.Final(no)}}, prescient.Guards{}, prescient.Failed, 1, noon(time.Hour)},
		"a timeout that is reported": {[]answer{{err: prescient.ErrTimeout}}, prescient.Guards{MaxErrors: prescient.None}, prescient.TimedOut, 1, noon(time.Hour)},
	} {
		t.Run(about, func(t *testing.T) {
			life := Simulate(t, Simulation{Job: job, Func: inTurn(test.answers), Guards: test.guards}).Run()
			life.RequireEnded(test.outcome)
			life.RequireCalls(test.calls)
			if last := life.Steps[len(life.Steps)-1]; !last.At.Equal(test.last) {
				t.Errorf("the last check was at %s, want %s", last.At, test.last)
			}
		})
	}
}

func TestALifeCanBeWatchedStepByStep(t *testing.T) {
	life := Simulate(t, Simulation{Job: prescient.NewJob{Entity: order, JobExec: "check"}, Func: inTurn([]answer{{next: noon(2 * time.Hour)}})})
	life.RequirePendingAt(noon(15 * time.Minute))
	life.RunUntil(noon(time.Hour))
	life.RequireCalls(1)
	life.RequirePendingAt(noon(2 * time.Hour))
	if step, _ := life.Step(); step.Outcome != prescient.Done {
		t.Errorf("the last step is %+v", step)
	}
	if _, more := life.Step(); more {
		t.Error("it goes on after its end")
	}
}

func TestAPanicIsAnError(t *testing.T) {
	life := Simulate(t, Simulation{Job: prescient.NewJob{Entity: order, JobExec: "check"}, Guards: prescient.Guards{MaxErrors: prescient.None},
		Func: func(context.Context, prescient.FutureJob) (*time.Time, error) { panic("boo") }}).Run()
	life.RequireEnded(prescient.Failed)
	if !strings.Contains(life.Reason, "boo") {
		t.Errorf("it failed since %q", life.Reason)
	}
}

func TestInABubbleTimePassesFromSlotToSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []time.Time
		began := time.Now().UTC()
		check := func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			if seen = append(seen, time.Now().UTC()); len(seen) == 1 {
				return prescient.At(time.Now().Add(3 * time.Hour)), nil
			}
			<-ctx.Done() // the second takes too long
			return nil, ctx.Err()
		}
		life := Simulate(t, Simulation{Job: prescient.NewJob{Entity: order, JobExec: "check", DueAt: began.Add(time.Hour)},
			Func: check, Guards: prescient.Guards{MaxErrors: prescient.None, Timeout: time.Minute}, Wait: true}).Run()
		life.RequireEnded(prescient.TimedOut)
		if len(seen) != 2 || !seen[0].Equal(began.Add(time.Hour)) || !seen[1].Equal(began.Add(4*time.Hour)) {
			t.Errorf("it was called at %s", seen)
		}
	})
}

func TestASimulationRefusesWhatAnInsertRefuses(t *testing.T) {
	for about, s := range map[string]Simulation{
		"is empty":           {Job: prescient.NewJob{Entity: prescient.Entity{Name: "order"}, JobExec: "check"}, Func: inTurn(nil)},
		"beyond the horizon": {Job: prescient.NewJob{Entity: order, JobExec: "check", DueAt: noon(1000 * time.Hour)}, Func: inTurn(nil)},
		"has no Func":        {Job: prescient.NewJob{Entity: order, JobExec: "check"}},
		"guard timeout":      {Job: prescient.NewJob{Entity: order, JobExec: "check"}, Func: inTurn(nil), Guards: prescient.Guards{Timeout: -1}},
	} {
		f := &failing{TB: t}
		func() {
			defer func() { _ = recover() }()
			Simulate(f, s)
		}()
		if !strings.Contains(f.why, about) {
			t.Errorf("it says %q, want %q", f.why, about)
		}
	}
}
