package campaign

import (
	"os"
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
	os.Exit(m.Run())
}

// play runs scenarios on a server of each flavour, side by side. A third server would take time from the two;
// scripts/chaos/run takes any.
func play(t *testing.T, seed uint64, duration time.Duration, scenarios ...stage.Scenario) []Outcome {
	t.Helper()
	c := Campaign{Seed: seed, Duration: duration, Scenarios: scenarios, Dir: t.TempDir(), Log: t.Logf}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing the servers: %v", err)
		}
	})
	for _, flavour := range []localserver.Flavour{localserver.MariaDB, localserver.MySQL} {
		engine, err := stage.Start(t.Context(), string(flavour))
		if err != nil {
			t.Fatalf("no %s server to break; scripts/test gets what is missing: %v", flavour, err)
		}
		c.Engines = append(c.Engines, engine)
	}
	return c.Run(t.Context())
}

// The short form of scripts/chaos/run.
func TestEveryPromiseIsKeptUnderFaults(t *testing.T) {
	scenarios, unknown := Named("calm", "kill-statement", "freeze", "lapse", "lost-answer", "server-kill", "mixed")
	if unknown != "" {
		t.Fatal(unknown)
	}
	all := play(t, 1, 6*time.Second, scenarios...)
	if want := 2 * len(scenarios); len(all) != want {
		t.Errorf("%d runs; want %d", len(all), want)
	}
	for _, o := range all {
		faults := 0
		for _, n := range o.Report.Faults {
			faults += n
		}
		t.Logf("%s %s: %d faults, %d rows, %d executed twice, %s at the latest", o.Engine, o.Scenario, faults, o.Report.Rows, o.Report.Twice, o.Report.Latest)
		if !o.Good() {
			PrintFindings(t.Output(), o)
			t.Errorf("%s %s: %d findings (%v)", o.Engine, o.Scenario, len(o.Report.Findings), o.Err)
		}
		if o.Report.Rows < 50 || o.Report.Calls < 50 {
			t.Errorf("%s %s: %d rows and %d calls prove little", o.Engine, o.Scenario, o.Report.Rows, o.Report.Calls)
		}
		if o.Scenario != "calm" && faults == 0 {
			t.Errorf("%s %s: nothing was broken", o.Engine, o.Scenario)
		}
	}
}
