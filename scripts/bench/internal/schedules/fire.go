package schedules

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// fire makes schedules that are due in one slot, and lets a worker wait for that.
func (st *stage) fire(ctx context.Context, b *rig.Bench, round int, form string, n int) error {
	slot, first, err := st.makeDue(ctx, form, n)
	if err != nil {
		return err
	}
	registry, err := st.registry(form)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	seen := &ended{first: st.at(first, "", "").ID, timers: n, checks: form == "checks", done: stop}
	switch {
	case seen.checks:
		seen.timers, seen.runs = 0, n
	case st.name == "runs":
		seen.runs = n
	}
	w, err := worker.New(ctx, st.DB, worker.Options{Registry: registry, Sweep: worker.Sweep{Every: -1}, Load: worker.Load{Pace: worker.PaceFull}, Observer: &worker.Observer{Answered: seen.answered}})
	if err != nil {
		return err
	}
	limit := time.AfterFunc(time.Until(slot)+5*time.Minute, stop)
	defer limit.Stop()
	if err := rig.Pause(ctx, time.Until(slot)-2*time.Second); err != nil {
		return err
	}
	asked, err := st.statements()
	if err != nil {
		return err
	}
	before := rig.UsageNow(st.Pid)
	if err := w.Work(ctx); err != nil {
		return err
	}
	after := rig.UsageNow(st.Pid)
	if seen.timers+seen.runs != 0 || seen.failed != "" {
		return fmt.Errorf("%d timers and %d runs were not done; %s", seen.timers, seen.runs, seen.failed)
	}
	answered, err := st.statements()
	if err != nil {
		return err
	}
	r := page.Record{Case: "prescient, " + caseOf[form], Round: round, Rows: n, Seconds: seen.last.Sub(slot).Seconds(),
		ClientCPU: after.Client - before.Client, ServerCPU: after.Server - before.Server, Figures: perGroup(asked, answered, seen.fired)}
	r.Figures["last s after the slot"] = r.Seconds
	if !seen.checks {
		r.Figures["last timer s after the slot"] = seen.lastTimer.Sub(slot).Seconds()
	}
	b.Say("  %-52s %9d fired  CPU %.1f + %.1f µs each  %s", r.Case, n, r.ClientCPU*1e6/float64(n), r.ServerCPU*1e6/float64(n), page.FiguresText(r.Figures))
	return b.Book.Add(r)
}

var caseOf = map[string]string{
	"one":    "a slot of runs, Func that reads the payload",
	"batch":  "a slot of runs, BatchFunc with Runs",
	"events": "a slot of events into the outbox",
	"checks": "a slot of plain checks, BatchFunc",
}

// makeDue makes schedules that are due at one minute, and returns that, which is a while from now, and the number of the first.
func (st *stage) makeDue(ctx context.Context, form string, n int) (slot time.Time, first int, err error) {
	takes := time.Duration(n) * 400 * time.Microsecond
	for range 5 {
		started := time.Now()
		slot = started.UTC().Add(takes*3/2 + 5*time.Second).Truncate(time.Minute).Add(time.Minute)
		crontab := fmt.Sprintf("%d %d * * *", slot.Minute(), slot.Hour())
		first = st.made
		if form == "checks" {
			err = st.createChecks(ctx, n, slot)
		} else {
			err = st.createMany(ctx, n, func(i int) schedule.Schedule { return st.at(i, crontab, "") })
		}
		if err != nil {
			return slot, first, err
		}
		takes = time.Since(started)
		if err := st.AwaitCalm(ctx); err != nil {
			return slot, first, err
		}
		if time.Until(slot) > 3*time.Second {
			return slot, first, nil
		}
	}
	return slot, first, fmt.Errorf("the schedules were never there in time: they take %v", takes)
}

// createChecks makes checks that are due at a time, of the next numbers.
func (st *stage) createChecks(ctx context.Context, n int, due time.Time) error {
	asJSON := fmt.Appendf(nil, "%q", payload[2:])
	return inBulks(ctx, st, n, func(i int) prescient.NewJob {
		return prescient.NewJob{Entity: prescient.Entity{Name: "check", Key: st.at(i, "", "").ID}, JobExec: target, DueAt: due, Payload: asJSON}
	}, func(ctx context.Context, some []prescient.NewJob) error {
		_, err := st.client.InsertMany(ctx, st.App, some)
		return err
	})
}

// registry has timers, and what schedules run.
func (st *stage) registry(form string) (*prescient.Registry, error) {
	r := prescient.NewRegistry()
	if err := st.schedules.Register(r); err != nil {
		return nil, err
	}
	good := func(run schedule.Run) error {
		if len(run.Payload) != payloadLen {
			return fmt.Errorf("payload of %s has %d bytes", run.ID, len(run.Payload))
		}
		return nil
	}
	if form == "one" {
		return r, r.Register(target, st.schedules.Func(st.DB, func(_ context.Context, run schedule.Run) error { return good(run) }), prescient.Guards{})
	}
	return r, r.RegisterBatch(target, func(ctx context.Context, batch *prescient.Batch) error {
		if form == "checks" {
			for i := range batch.Jobs() {
				batch.Settle(i)
			}
			return nil
		}
		runs, err := st.schedules.Runs(ctx, st.DB, batch.Jobs()...)
		if err != nil {
			return err
		}
		for i, run := range runs {
			if err := good(run); err != nil {
				return err
			}
			batch.Settle(i)
		}
		return nil
	}, prescient.Guards{})
}

// ended counts what is done.
type ended struct {
	mu              sync.Mutex
	first           string // id of the first that counts; before it are others that are due at the same minute
	fired           int    // timers, theirs too; where there are none to come, checks
	checks          bool   // in place of schedules
	timers, runs    int    // still to come
	last, lastTimer time.Time
	failed          string
	done            func()
}

// answered implements the function of worker.Observer: it is called when the answers are committed.
func (e *ended) answered(answers []worker.Result) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range answers {
		if a.Job.JobExec == schedule.TimerExec || e.checks {
			e.fired++
		}
		switch {
		case a.Reason != "" || a.Dropped:
			e.failed = fmt.Sprintf("%s of %s: %s", a.Job.JobExec, a.Job.Entity(), a.Reason)
		case a.Job.EntityKey < e.first:
		case a.Job.JobExec == schedule.TimerExec:
			e.timers--
			e.lastTimer = now
		case a.Outcome == prescient.Done:
			e.runs--
		}
	}
	e.last = now
	if e.timers+e.runs == 0 {
		e.done()
	}
}

// statements are how many statements of each kind the server has answered so far.
func (st *stage) statements() (map[string]float64, error) {
	rows, err := st.App.Query("SHOW GLOBAL STATUS LIKE 'Com\\_%'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := make(map[string]float64)
	for rows.Next() {
		var name string
		var n float64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		counts[strings.TrimPrefix(name, "Com_")] = n
	}
	return counts, rows.Err()
}

// ofTransactions are kinds of statements that hold transactions together.
var ofTransactions = []string{"begin", "commit", "rollback", "rollback_to_savepoint", "savepoint", "release_savepoint", "set_option"}

// ofWork are those that read and write.
var ofWork = []string{"select", "insert", "insert_select", "update", "update_multi", "delete", "delete_multi"}

// perGroup is how many statements there were for 500 firings.
func perGroup(before, after map[string]float64, firings int) map[string]float64 {
	figures := make(map[string]float64)
	per := func(kinds []string) (sum float64) {
		for _, kind := range kinds {
			sum += (after[kind] - before[kind]) / float64(firings) * 500
		}
		return sum
	}
	for name, kinds := range map[string][]string{"transaction control a 500": ofTransactions, "statements a 500": ofWork,
		"SELECT a 500": {"select"}, "INSERT a 500": {"insert", "insert_select"}, "UPDATE a 500": {"update", "update_multi"},
		"DELETE a 500": {"delete", "delete_multi"}} {
		figures[name] = per(kinds)
	}
	maps.DeleteFunc(figures, func(_ string, n float64) bool { return n == 0 })
	return figures
}
