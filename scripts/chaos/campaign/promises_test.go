package campaign

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"prescient/prescient/localserver"
	"prescient/scripts/chaos/worker"

	"prescient/scripts/chaos/stage"
)

// The tests are their own workers.
func TestMain(m *testing.M) {
	if worker.IsWorker() {
		worker.Main()
	}
	Quiet()
	code := m.Run()
	if err := (Campaign{Engines: started}).Close(); err != nil {
		fmt.Fprintf(os.Stderr, "closing the servers: %v\n", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// started are the servers that the tests play on, one test after the other.
var started []stage.Engine

// engines are a server of each flavour. A third one would take time from the two; scripts/chaos/run takes any.
func engines(t *testing.T) []stage.Engine {
	t.Helper()
	if started != nil {
		return started
	}
	flavours := []localserver.Flavour{localserver.MariaDB, localserver.MySQL}
	list, errs := make([]stage.Engine, len(flavours)), make([]error, len(flavours))
	var starting sync.WaitGroup
	for i, flavour := range flavours {
		starting.Go(func() { list[i], errs[i] = stage.Start(t.Context(), string(flavour)) })
	}
	starting.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(errors.Join(fmt.Errorf("no servers to break; scripts/test gets what is missing: %w", err), (Campaign{Engines: list}).Close()))
	}
	started = list
	return list
}

// play runs scenarios on both servers side by side, and two of them at a time on each: they wait more than they compute.
func play(t *testing.T, seed uint64, duration time.Duration, scenarios ...stage.Scenario) []Outcome {
	t.Helper()
	return playOn(t, engines(t), seed, duration, scenarios...)
}

// playOn is play on some of the servers.
func playOn(t *testing.T, on []stage.Engine, seed uint64, duration time.Duration, scenarios ...stage.Scenario) []Outcome {
	t.Helper()
	c := Campaign{Seed: seed, Duration: duration, Engines: on, Scenarios: scenarios, Beside: 2, Rows: 80, Dir: t.TempDir(), Log: t.Logf}
	return c.Run(t.Context())
}

// The short form of scripts/chaos/run.
func TestEveryPromiseIsKeptUnderFaults(t *testing.T) {
	scenarios, unknown := Named("calm", "kill-statement", "freeze", "outage", "lapse", "lost-answer", "mixed", "server-kill")
	if unknown != "" {
		t.Fatal(unknown)
	}
	for i := range scenarios {
		scenarios[i].Load.Rate = 60
	}
	all := play(t, 1, 6*time.Second, scenarios...)
	if want := 2 * len(scenarios); len(all) != want {
		t.Errorf("%d runs; want %d", len(all), want)
	}
	changes, calls, saved, apart, quota, jobs, again, written := 0, 0, 0, 0, 0, 0, 0, 0
	for _, o := range all {
		faults := 0
		for _, n := range o.Report.Faults {
			faults += n
		}
		t.Logf("%s %s: %d faults, %d rows, %d executed twice, %s at the latest; %+v; %+v", o.Engine, o.Scenario, faults, o.Report.Rows, o.Report.Twice, o.Report.Latest, o.Report.Planned, o.Report.Long)
		t.Logf("%s %s: %+v; %+v", o.Engine, o.Scenario, o.Report.Jobs, o.Report.Changes)
		if !o.Good() {
			PrintFindings(t.Output(), o)
			t.Errorf("%s %s: %d findings (%v)", o.Engine, o.Scenario, len(o.Report.Findings), o.Err)
		}
		if o.Report.Rows < 50 || o.Report.Calls < 50 {
			t.Errorf("%s %s: %d rows and %d calls prove little", o.Engine, o.Scenario, o.Report.Rows, o.Report.Calls)
		}
		if p := o.Report.Planned; p.Schedules < 10 || p.Events < 5 || p.Runs < 5 || p.Events+p.Runs < 30 {
			t.Errorf("%s %s: %+v prove little", o.Engine, o.Scenario, p)
		}
		calls, saved = calls+o.Report.Long.Calls, saved+o.Report.Long.Saved // of long runs: a few take all of a short scenario
		jobs, again, written = jobs+o.Report.Jobs.Done, again+o.Report.Jobs.Again, written+o.Report.Changes.Written
		changes += o.Report.Planned.Changes // which a server that is killed, or busy, lets through late
		apart, quota = apart+o.Report.Planned.Apart, quota+o.Report.Planned.Quota
		if o.Scenario != "calm" && faults == 0 {
			t.Errorf("%s %s: nothing was broken", o.Engine, o.Scenario)
		}
	}
	if calls < 3*len(all) || saved < 10*len(all) {
		t.Errorf("%d calls of long runs and %d checkpoints in %d runs prove little", calls, saved, len(all))
	}
	if apart < len(all)/2 || quota < len(all)/2 {
		t.Errorf("%d long runs that kept apart and %d that used up their quota, in %d runs, prove little", apart, quota, len(all))
	}
	if jobs < 2*len(all) || again < len(all)/2 || written < 30*len(all) {
		t.Errorf("%d runs of jobs, %d steps that were called again and %d changes in %d runs prove little", jobs, again, written, len(all))
	}
	if changes < 4*len(all) {
		t.Errorf("%d changes of schedules in %d runs prove little", changes, len(all))
	}
}
