package serve_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

func TestTwoProcessesOnDifferentMinutesServeEverySlotOnce(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		c := &rig.Calls{Gate: func(context.Context, string, int) {}}
		environment := r.Serve(c)
		assigned := map[string]string{"even": "0,30", "odd": "15,45"}
		config := make(map[string]string)
		for name := range assigned {
			config[name] = environment(name)["PRESCIENT_CONFIG"]
		}
		r.At("12:50")
		r.OK("migrate")
		want := map[string]string{"13:00": "even", "13:15": "odd", "13:30": "even", "13:45": "odd"}
		for slot := range want {
			r.OK("insert", "--entity", "order/"+slot, "--exec", "check", "--at", "2026-11-20 "+slot)
		}
		for _, slot := range []string{"13:00", "13:15", "13:30", "13:45"} {
			r.At(slot + ":01")
			for name, minutes := range assigned {
				r.Variables["PRESCIENT_CONFIG"] = config[name]
				p := r.Start(name, "run", "--worker-minutes", minutes)
				p.Ends(r.T, cmd.ExitOK)
				if unassigned := strings.Contains(p.Err.String(), "not assigned to this worker"); unassigned == (name == want[slot]) {
					r.Errorf("slot %s, %s: %s", slot, name, p.Err.String())
				}
			}
		}
		ends := r.History()
		for _, end := range ends {
			if end.Worker != want[end.EntityKey] || end.Slot.Format("15:04") != end.EntityKey || end.Outcome != prescient.Done {
				r.Errorf("%+v", end)
			}
		}
		if again := c.Repeated(r.T, 4); again != 0 || len(ends) != 4 {
			r.Errorf("%d ends, %d calls too many", len(ends), again)
		}
	})
}

func TestTwoProcessesOnTheSameMinutesShareTheRows(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		const rows = 400
		// Nobody gets an answer before both have asked.
		both := make(chan struct{})
		var once sync.Once
		c := &rig.Calls{}
		c.Gate = func(ctx context.Context, _ string, _ int) {
			if c.Of("a") > 0 && c.Of("b") > 0 {
				once.Do(func() { close(both) })
			}
			select {
			case <-both:
			case <-ctx.Done():
			}
		}
		processes := r.Workers(c, "a", "b")
		r.Fill(rows, 2*time.Second)
		rig.Eventually(r.T, "all rows have ended", func() bool { return r.Count("SELECT COUNT(*) FROM job_history") == rows })
		for _, p := range processes {
			r.Must(p.Process.Signal(syscall.SIGTERM))
			p.Ends(r.T, cmd.ExitOK)
		}
		if again := c.Repeated(r.T, rows); again != 0 {
			r.Errorf("%d calls too many", again)
		}
		if n := r.Count("SELECT COUNT(DISTINCT worker) FROM job_history WHERE outcome = 'done'"); n != 2 {
			r.Errorf("%d workers had rows; want 2", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM future_job"); n != 0 {
			r.Errorf("%d rows are pending", n)
		}
	})
}

func TestBucketsOfAKilledProcessAreTakenOver(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		const rows, answered, ahead = 200, 60, 2 * 2 * 10 // in each of two buckets, two batches may be read and not committed
		// a gets answers for a while and then none. b starts after that: beside a it might leave a too few rows to come to that.
		asked := make(chan struct{})
		var once sync.Once
		c := &rig.Calls{Gate: func(ctx context.Context, worker string, n int) {
			if worker == "a" && n <= answered {
				return
			}
			if worker == "a" {
				once.Do(func() { close(asked) })
				<-ctx.Done()
			}
		}}
		start := r.Starter(c)
		a := start("a")
		a.Works(r.T)
		r.Fill(rows, 2*time.Second)
		r.Await(asked)
		b := start("b")
		b.Works(r.T)
		r.Must(a.Process.Kill())
		a.Ends(r.T, -1)
		rig.Eventually(r.T, "all rows have ended", func() bool { return r.Count("SELECT COUNT(*) FROM job_history") == rows })
		r.Must(b.Process.Signal(syscall.SIGTERM))
		b.Ends(r.T, cmd.ExitOK)

		// What a committed stays; what it had begun runs again, and nothing else.
		committed := r.Count("SELECT COUNT(*) FROM job_history WHERE worker = 'a'")
		if again := c.Repeated(r.T, rows); again != c.Of("a")-committed || again == 0 || again > ahead {
			r.Errorf("%d calls too many: a had called %d times and committed %d", again, c.Of("a"), committed)
		}
		if n := r.Count("SELECT COALESCE(SUM(takeovers), 0) FROM slot_run"); n == 0 {
			r.Error("the ledger has no takeover")
		}
		if n := r.Count("SELECT COUNT(*) FROM job_history WHERE outcome <> 'done'") + r.Count("SELECT COUNT(*) FROM future_job"); n != 0 {
			r.Errorf("%d rows are not done", n)
		}
	})
}

func TestSIGTERMInMidSlotEndsGracefully(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		const rows, before = 200, 50
		blocked, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		c := &rig.Calls{Gate: func(ctx context.Context, _ string, n int) {
			if n <= before {
				return
			}
			once.Do(func() { close(blocked) })
			select {
			case <-release:
			case <-ctx.Done():
			}
		}}
		p := r.Workers(c, "a")[0]
		r.Fill(rows, 2*time.Second)
		r.Await(blocked)
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Says(r.T, `"message":"stopping`)
		close(release)
		p.Ends(r.T, cmd.ExitOK)
		p.Says(r.T, `"message":"stopped"`)

		called := c.Of("a")
		if c.Repeated(r.T, called) != 0 || called > before+2*8 {
			r.Errorf("%d calls; want no more than were under way", called)
		}
		if done := r.Count("SELECT COUNT(*) FROM job_history WHERE outcome = 'done'"); done != called {
			r.Errorf("%d ends for %d answers", done, called)
		}
		if pending := r.Count("SELECT COUNT(*) FROM future_job"); pending != rows-called {
			r.Errorf("%d pending; want %d", pending, rows-called)
		}
		if n := r.Count("SELECT COUNT(*) FROM slot_run WHERE allocated_until IS NOT NULL"); n != 0 {
			r.Errorf("%d leases are still held", n)
		}
	})
}

// Nor is it a failure of run where its slot has not begun.
func TestSIGTERMBeforeTheSlotEndsRunGracefully(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.At("12:59:59") // and stays there
		p := r.Start("early", "run")
		rig.Eventually(r.T, "run is there", func() bool { return r.Count("SELECT COUNT(*) FROM agent WHERE kind = 'run'") == 1 })
		time.Sleep(500 * time.Millisecond) // by now it waits for the slot
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Ends(r.T, cmd.ExitOK)
	})
}

func TestSecondSignalEndsTheProcessAtOnce(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		blocked := make(chan struct{})
		var once sync.Once
		c := &rig.Calls{Gate: func(ctx context.Context, _ string, _ int) {
			once.Do(func() { close(blocked) })
			<-ctx.Done()
		}}
		p := r.Workers(c, "a")[0]
		r.Fill(1, time.Second)
		r.Await(blocked)
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Says(r.T, `"message":"stopping`)
		r.Must(p.Process.Signal(syscall.SIGINT))
		p.Ends(r.T, 128+int(syscall.SIGINT))
		p.Says(r.T, "prescient: interrupt again: ending at once\n")
	})
}

func TestTheLogIsSilentBetweenSlots(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.OK("migrate", "--slots-resolution", "1d")
		p := r.Start("a", "work", "--slots-resolution", "1d", "--sweep-every", "1s")
		p.Says(r.T, `"message":"slot run"`)
		said := p.Err.String()
		// Two sweeps that find nothing.
		time.Sleep(2500 * time.Millisecond)
		if now := p.Err.String(); now != said {
			r.Errorf("said between slots: %s", strings.TrimPrefix(now, said))
		}
		r.Must(p.Process.Signal(os.Interrupt))
		p.Ends(r.T, cmd.ExitOK)
		if lines := bytes.Count([]byte(p.Err.String()), []byte("\n")); lines != 5 {
			r.Errorf("%d lines; want a warning, working, the slot run, stopping, stopped: %s", lines, p.Err.String())
		}
	})
}
