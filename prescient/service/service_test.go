package service

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/heartbeat"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// options are those of a service of the rig.
func options(r *app.Rig, without ...Part) Options {
	return Options{Worker: worker.Options{Prefix: "p_", Dialect: r.Setting, Name: "w1"}, Without: without}
}

// A service is among the agents until its context ends, and has all that it needs of the names that it reserves.
func TestAServiceWorksUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		s, err := New(t.Context(), r.As("worker", time.Time{}), options(r))
		r.Must(err)
		if names := s.Registry.Names(); !slices.Equal(names, []string{steps.Exec, schedule.TimerExec}) && !slices.Equal(names, []string{schedule.TimerExec, steps.Exec}) {
			t.Errorf("%q are registered", names)
		}
		if err := s.Alive(); err == nil {
			t.Error("it is alive before it runs")
		}
		ends := run(t, s)
		list, err := agent.List(t.Context(), r.As("operator", time.Time{}), "p_", r.Setting)
		if err != nil || len(list) != 1 || list[0].Name != "w1" || list[0].Assignment != "every slot" || list[0].Concurrency != worker.DefaultConcurrency {
			t.Errorf("%+v, %v", list, err)
		}
		ends()
		if list, err := agent.List(t.Context(), r.As("operator", time.Time{}), "p_", r.Setting); err != nil || len(list) != 0 {
			t.Errorf("%+v is left, %v", list, err)
		}
	})
}

// What is left out leaves no trace: others do it.
func TestWhatIsLeftOutIsNotThere(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		s, err := New(t.Context(), r.As("worker", time.Time{}), options(r, Slots, Schedules, LongRuns, Statistics, Forecast))
		r.Must(err)
		if names := s.Registry.Names(); len(names) > 0 || s.Long != nil {
			t.Errorf("%q, %v", names, s.Long)
		}
		ends := run(t, s)
		for _, table := range []string{"p_agent", "p_slot_run", "p_forecast"} {
			var n int
			if err := r.Root.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n > 0 {
				t.Errorf("%s has %d rows, %v", table, n, err)
			}
		}
		ends()
	})
}

// run has a service run until what it returns is called, once it is known to others.
func run(t *testing.T, s *Service) (ends func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	known := func() bool {
		if !s.options.has(Agent) {
			return true
		}
		a := s.agent.Load()
		if a == nil {
			return false
		}
		list, err := a.List(t.Context())
		return err == nil && len(list) == 1
	}
	for until := time.Now().Add(time.Minute); s.Alive() != nil || !known(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal(s.Alive())
		}
	}
	return func() {
		t.Helper()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestAPartThatIsNoneIsRefusedByName(t *testing.T) {
	_, err := New(t.Context(), nil, Options{Without: []Part{"sweep"}})
	if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), `Without has the part "sweep"; slots, agent, schedules, long runs, jobs, statistics, forecast are allowed`) {
		t.Error(err)
	}
}

// A user's observer, heartbeats and metrics are told in turn; of what none of them wants to know nobody is told.
func TestObserversAreToldInTheirOrder(t *testing.T) {
	var heard []string
	says := func(name string) *worker.Observer {
		return &worker.Observer{Working: func() { heard = append(heard, name+" works") }, Answered: func([]worker.Result) { heard = append(heard, name+" answered") }}
	}
	first := says("a")
	first.SlotRun = func(books.Figures, error) { heard = append(heard, "a ran") }
	all := joined(first, nil, says("b"), says("c"))
	all.Working()
	all.SlotRun(books.Figures{}, nil)
	all.Answered(nil)
	if got := strings.Join(heard, ", "); got != "a works, b works, c works, a ran, a answered, b answered, c answered" {
		t.Error(got)
	}
	if all.Served != nil || all.Calling != nil {
		t.Error("nobody wanted that")
	}
}

// Of long runs a user's observer is told, beside services outside or without these.
func TestAnObserverOfLongRunsIsToldBesideHeartbeats(t *testing.T) {
	sender, err := heartbeat.New(heartbeat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer sender.Close(t.Context())
	var heard []string
	mine := &longrun.Observer{
		Calling: func(check prescient.FutureJob) { heard = append(heard, "calling "+check.EntityKey) },
		Ended: func(check prescient.FutureJob, outcome prescient.Outcome) {
			heard = append(heard, string(outcome)+" "+check.EntityKey)
		},
	}
	for _, o := range []Options{{LongRuns: mine}, {LongRuns: mine, Heartbeats: sender}, {LongRuns: new(longrun.Observer), Heartbeats: sender}, {Heartbeats: sender}} {
		told := (&Service{options: o}).longObserver()
		if told.Calling != nil {
			told.Calling(prescient.FutureJob{EntityKey: "1"})
			told.Ended(prescient.FutureJob{EntityKey: "1"}, prescient.Done)
		}
	}
	if got := strings.Join(heard, ", "); got != "calling 1, done 1, calling 1, done 1" {
		t.Error(got)
	}
	if (&Service{}).longObserver() != nil {
		t.Error("nobody wants to be told")
	}
}
