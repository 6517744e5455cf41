package campaign

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/connect"
	"prescient/prescient/forecast"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/stage"
	"prescient/scripts/chaos/worker"
)

// forecasts are the scenarios in which what the forecast says of slots is compared with what these then had.
func forecasts() []stage.Scenario {
	return []stage.Scenario{
		{Name: "forecast", About: "SIGKILL of workers now and then, while forecasts tell of slots some seconds ahead", Load: stage.Load{Rate: 60},
			Rules: func(r *checker.Rules) { r.Crashes, r.MaxLate = true, 40*time.Second }, Faults: foretell},
	}
}

// batch is some checks that were inserted for a slot, all at the same time.
type batch struct {
	slot         time.Time
	checks       int
	began, ended time.Time // of the insert; ended is zero where nobody can tell whether it was done
}

// told is what a forecast said of a slot.
type told struct {
	forecast.Part
	ahead time.Duration
}

// foretelling is a run of the scenario.
type foretelling struct {
	*stage.Stage
	db *sqlx.DB

	mu      sync.Mutex
	batches []batch
	told    []told
	made    int
	exact   int // slots of which the number of checks was told, and is known
	sampled int
	outside int // of these: the number is not within the bounds that were told
}

// foretell inserts checks some slots ahead, has forecasts made of them, kills workers, and compares once the last slot has been run.
func foretell(ctx context.Context, s *stage.Stage) {
	db, err := connect.Open(s.DSN(), 0)
	if err != nil {
		s.Logf("forecasts: %v", err)
		return
	}
	defer db.Close()
	f := &foretelling{Stage: s, db: db}
	var busy sync.WaitGroup
	for _, do := range []func(context.Context){f.insertAhead, f.forecast, func(ctx context.Context) { killSome(ctx, s) }} {
		busy.Go(func() { do(ctx) })
	}
	busy.Wait()
	if err := f.compare(context.WithoutCancel(ctx)); err != nil {
		s.Find("forecast", "it could not be compared with the ledger: %v", err)
	}
}

// insertAhead inserts checks for slots that no app reaches, now and then more than a forecast counts one by one.
func (f *foretelling) insertAhead(ctx context.Context) {
	dice := f.Dice(3)
	for n := 0; stage.Pause(ctx, 300*time.Millisecond); n++ {
		b := batch{slot: f.Now().Truncate(time.Second).Add(time.Duration(8+dice.IntN(4)) * time.Second), checks: 1 + dice.IntN(40)}
		if n%20 == 10 {
			b.checks = 1300
		}
		rows := make([]string, b.checks)
		for i := range rows {
			rows[i] = fmt.Sprintf("('%s', 'ahead%d.%d', '%s', '%s')", evidence.OutsiderPrefix, n, i, worker.Foretold, b.slot.Format(time.DateTime))
		}
		b.began = time.Now()
		_, err := f.db.ExecContext(context.WithoutCancel(ctx), "INSERT INTO "+stage.Prefix+"future_job (entity_name, entity_key, job_exec, due_at) VALUES "+strings.Join(rows, ", "))
		if err == nil {
			b.ended = time.Now()
		}
		f.mu.Lock()
		f.batches = append(f.batches, b)
		f.mu.Unlock()
	}
}

// forecast makes forecasts, as those who work do each minute.
func (f *foretelling) forecast(ctx context.Context) {
	maker, err := forecast.New(ctx, f.db, forecast.Options{Prefix: stage.Prefix, Name: "checker"})
	if err != nil {
		f.Logf("forecasts: %v", err)
		return
	}
	for stage.Pause(ctx, 1500*time.Millisecond) {
		if _, err := f.db.ExecContext(ctx, "UPDATE "+stage.Prefix+"forecast_fit SET made_at = made_at - INTERVAL 1 HOUR WHERE made_at > UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"); err != nil {
			continue // else the one that a worker made would do for a minute
		}
		began := time.Now()
		done, err := maker.Make(ctx)
		if err != nil && ctx.Err() == nil {
			f.Find("forecast", "it could not be made: %v", err)
		}
		if !done || err != nil {
			continue
		}
		ended, now := time.Now(), f.Now()
		report, err := forecast.Read(ctx, f.db, stage.Prefix, "")
		if err != nil || report.Worker != "checker" {
			continue
		}
		// What was called in vain waits for a later slot than it was inserted for.
		var moved int
		err = f.db.GetContext(ctx, &moved, "SELECT COUNT(*) FROM "+stage.Prefix+"future_job WHERE job_exec = ? AND next_check_at <> first_check_at", worker.Foretold)
		if err == nil {
			f.judge(report, began, ended, now, moved)
		}
	}
}

// judge holds a forecast against what was inserted: by the time it was begun at least, by the time it was made at most. now is the database's
// time then; slots that have begun are left out. So many checks may be in any slot as were moved.
func (f *foretelling) judge(report forecast.Report, began, ended, now time.Time, moved int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made++
	for _, part := range report.Slots {
		if !part.Start.After(now.Add(time.Second)) || part.Start.After(now.Add(15*time.Second)) {
			continue
		}
		least, most := 0, moved
		for _, b := range f.batches {
			switch {
			case !b.slot.Equal(part.Start):
			case !b.ended.IsZero() && b.ended.Before(began):
				least, most = least+b.checks, most+b.checks
			case b.began.Before(ended):
				most += b.checks
			}
		}
		if most == moved {
			continue
		}
		f.told = append(f.told, told{part, part.Start.Sub(report.MadeAt)})
		var line forecast.Line
		if at := slices.IndexFunc(part.Lines, func(l forecast.Line) bool { return l.JobExec == worker.Foretold }); at >= 0 {
			line = part.Lines[at]
		}
		switch within := line.High >= int64(least) && line.Low <= int64(most); {
		case part.How == forecast.Exact:
			f.exact++
			if line.Due < int64(least) || line.Due > int64(most) {
				f.Find("forecast", "slot %s, told %s ahead: exactly %d checks of %s; it had from %d to %d", part.Start.Format(time.TimeOnly), part.Start.Sub(report.MadeAt).Round(time.Millisecond),
					line.Due, worker.Foretold, least, most)
			}
		default:
			f.sampled++
			if !within {
				f.outside++
			}
		}
	}
}

// compare waits until the last slot has been run, and remarks by how much the forecasts were off.
func (f *foretelling) compare(ctx context.Context) error {
	left := 1
	for until := time.Now().Add(time.Minute); left > 0 && time.Now().Before(until); stage.Pause(ctx, 200*time.Millisecond) {
		if err := f.db.GetContext(ctx, &left, "SELECT COUNT(*) FROM "+stage.Prefix+"future_job WHERE job_exec = ?", worker.Foretold); err != nil {
			return err
		}
	}
	var rows, begins, ends []float64
	late := 0 // slots that were to end in time, and did not
	for _, t := range f.told {
		var ran int64
		var began sql.NullTime
		var lasted sql.NullInt64 // until the last call ended, at most: answers wait for company before they are committed
		sum := "moved + put_off + " + strings.Join(countedOutcomes, " + ")
		err := f.db.QueryRowxContext(ctx, "SELECT COALESCE(SUM("+sum+"), 0), MIN(started_at) FROM "+stage.Prefix+"slot_run WHERE slot = ?", t.Start).Scan(&ran, &began)
		if err == nil {
			err = f.db.GetContext(ctx, &lasted, "SELECT MAX(longest_lateness_ms + longest_run_ms) FROM "+stage.Prefix+"exec_run WHERE slot = ? AND bucket < 65535", t.Start)
		}
		if err != nil {
			return err
		}
		if ran > 0 {
			rows = append(rows, 100*float64(t.Due+t.Occurrences-ran)/float64(ran))
		}
		if t.BeginsAt != nil && began.Valid {
			begins = append(begins, float64(began.Time.Sub(*t.BeginsAt).Milliseconds()))
		}
		if t.EndsAt != nil && lasted.Valid {
			ends = append(ends, float64(lasted.Int64-t.EndsAt.Sub(t.Start).Milliseconds()))
			if t.Verdict == forecast.Fits && lasted.Int64 > 1000 {
				late++
			}
		}
	}
	f.Remark("%d forecasts told of %d slots how many checks were pending; %d were counted, and %d sampled, of which %d were off by more than was told", f.made, len(f.told), f.exact, f.sampled, f.outside)
	f.Remark("against the ledger checks of a slot were off by %s; its begin by %s, its end by %s; %d slots were to end in time, and did not",
		spread(rows, "%"), spread(begins, " ms"), spread(ends, " ms"), late)
	if f.made < 2 || f.exact < 5 {
		f.Find("forecast", "%d forecasts of %d slots prove nothing", f.made, f.exact)
	}
	return nil
}

// countedOutcomes are those of rows that a slot run has had in hand.
var countedOutcomes = []string{"done", "max_checks", "past_return", "beyond_horizon", "failed", "timed_out", "crashed", "dropped", "expired", "missed", "too_soon", "overlapped", "quota"}

// spread are the smallest of some numbers, the middle one, and the largest.
func spread(all []float64, unit string) string {
	if len(all) == 0 {
		return "an unknown number"
	}
	slices.Sort(all)
	return fmt.Sprintf("%+.0f%s (%+.0f to %+.0f)", all[len(all)/2], unit, all[0], all[len(all)-1])
}
