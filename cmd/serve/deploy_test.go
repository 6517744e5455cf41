package serve_test

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/client"
)

// What one process gives back when it is stopped another goes on with, long after it has done its own part of the slot, and though no
// sweep comes.
func TestWhatAStoppedProcessGivesBackIsRunAtOnce(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		const rows = 200
		blocked, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		c := &rig.Calls{}
		c.Gate = func(ctx context.Context, worker string, _ int) {
			if worker == "b" {
				return
			}
			once.Do(func() { close(blocked) })
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		r.Variables["PRESCIENT_SWEEP_EVERY"] = "1h"
		r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
		r.OK("migrate")
		environment := r.Serve(c)
		start := func(name string) *rig.Process {
			for variable, value := range environment(name) {
				r.Variables[variable] = value
			}
			return r.Start(name, "work", "--worker-batch", "10", "--worker-concurrency", "8", "--guards-concurrency", "8", "--worker-lease", "2s", "--guards-timeout", "1m")
		}
		a, b := start("a"), start("b")
		a.Works(r.T)
		b.Works(r.T)
		time.Sleep(2 * time.Second) // the first sweep of each is over
		slot := r.Fill(rows, 2*time.Second)
		r.Await(blocked)
		b.Says(r.T, `"held":`) // it has waited for a as long as it does
		left := r.Count("SELECT COUNT(*) FROM future_job")
		if left < 20 {
			r.Fatalf("%d rows of slot %s are left for others than a", left, slot)
		}
		r.Must(a.Process.Signal(syscall.SIGTERM))
		a.Says(r.T, `"message":"stopping`)
		close(release)
		a.Ends(r.T, cmd.ExitOK)
		gone := time.Now()
		rig.Eventually(r.T, "all rows have ended", func() bool { return r.Count("SELECT COUNT(*) FROM job_history") == rows })
		b.Says(r.T, `"message":"slot run on, for a worker that gave it back"`)
		if took := time.Since(gone); took > 10*time.Second { // a second until it begins, another that what is late has, and the rest on a busy machine
			r.Errorf("it took %s", took)
		}
		if again := c.Repeated(r.T, rows); again != 0 {
			r.Errorf("%d calls too many", again)
		}
		r.Must(b.Process.Signal(syscall.SIGTERM))
		b.Ends(r.T, cmd.ExitOK)
	})
}

func TestARollingRestartUnderLoadCommitsNothingTwice(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		const each = 40
		c := &rig.Calls{Gate: func(ctx context.Context, _ string, _ int) {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}}
		start := r.Starter(c)
		names := []string{"a", "b", "c"}
		processes := make(map[string]*rig.Process)
		for _, name := range names {
			processes[name] = start(name)
		}
		for _, p := range processes {
			p.Works(r.T)
		}
		loaded, load := make(chan int), make(chan struct{})
		go func() { loaded <- insertEachSecond(r, each, load) }()
		for _, name := range names {
			time.Sleep(1500 * time.Millisecond)
			p := processes[name]
			r.Must(p.Process.Signal(syscall.SIGTERM))
			p.Ends(r.T, cmd.ExitOK)
			processes[name] = start(name)
			processes[name].Works(r.T)
		}
		time.Sleep(time.Second)
		close(load)
		rows := <-loaded
		rig.Eventually(r.T, "all rows have ended", func() bool { return r.Count("SELECT COUNT(*) FROM job_history") >= rows })
		for _, p := range processes {
			r.Must(p.Process.Signal(syscall.SIGTERM))
			p.Ends(r.T, cmd.ExitOK)
		}
		for what, want := range map[string]int{"ends": rows, "checks": rows, "not done": 0, "early": 0} {
			query := map[string]string{"ends": "COUNT(*)", "checks": "COUNT(DISTINCT entity_key)", "not done": "SUM(outcome <> 'done')", "early": "SUM(started_at < slot)"}[what]
			if n := r.Count("SELECT " + query + " FROM job_history"); n != want {
				r.Errorf("%s: %d; want %d", what, n, want)
			}
		}
		if again := c.Repeated(r.T, rows); again != 0 {
			r.Errorf("%d calls too many", again)
		}
		if n := r.Count("SELECT COUNT(*) FROM future_job") + r.Count("SELECT COUNT(*) FROM slot_run WHERE allocated_until IS NOT NULL"); n != 0 {
			r.Errorf("%d rows and leases are left", n)
		}
		r.Logf("%d checks; 99 in 100 within %d ms, all within %d", rows,
			r.Count(fmt.Sprintf("SELECT CAST(lateness_ms AS SIGNED) FROM job_history ORDER BY lateness_ms DESC LIMIT 1 OFFSET %d", rows/100)),
			r.Count("SELECT CAST(MAX(lateness_ms) AS SIGNED) FROM job_history"))
	})
}

// insertEachSecond makes checks for the second after the next, each second until it is told to end, and returns how many.
func insertEachSecond(r *rig.Rig, each int, end <-chan struct{}) (rows int) {
	checks, err := client.New(r.Context(), r.DB, client.Options{})
	if err != nil {
		r.Error(err)
		return 0
	}
	for {
		jobs := make([]prescient.NewJob, each)
		due := time.Now().Add(2 * time.Second)
		for i := range jobs {
			jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(rows + i)}, JobExec: "check", DueAt: due}
		}
		if _, err := checks.InsertMany(r.Context(), r.DB, jobs); err != nil {
			r.Error(err)
			return rows
		}
		rows += each
		select {
		case <-end:
			return rows
		case <-time.After(time.Second):
		}
	}
}
