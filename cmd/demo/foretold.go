package demo

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/forecast"
	"prescient/prescient/worker"
)

// foretold is what a forecast said of a slot, and what the slot then had by the ledger.
type foretold struct {
	Slot   time.Time    `json:"slot"`
	MadeAt time.Time    `json:"made_at"`
	How    forecast.How `json:"how"`
	// Due is how many checks were pending for it, Occurrences how many of the schedule were to come.
	Due         int64 `json:"due"`
	Occurrences int64 `json:"occurrences"`
	// EndsAt is when its last call was to end; nil where nobody knew how long calls take.
	EndsAt *time.Time `json:"ends_at"`
	// Had is how many it had in hand, Cancelled how many were cancelled after the forecast. What was inserted since is among them.
	Had       int64 `json:"had"`
	Cancelled int64 `json:"cancelled"`
	// EndedAt is when its last call had ended, by the books of its job_execs; nil where none was made.
	EndedAt *time.Time `json:"ended_at"`
}

// foretell has the worker known as an agent until the play is over, and after a third of it a forecast made. It keeps what that says of the
// busiest slot which comes in time before the end. A busy machine may take longer for it than the play.
func (s *stage) foretell(ctx, play context.Context, f demoFlags) error {
	a, err := agent.New(play, s.db, agent.Options{Prefix: s.prefix, Name: s.worker.Name(), Concurrency: worker.DefaultConcurrency, Calling: s.worker.CallTime})
	if err != nil {
		return err
	}
	known := make(chan struct{})
	go func() {
		defer close(known)
		a.Run(play)
	}()
	defer func() { <-known }()
	end := s.now().Add(f.lastsFor)
	select {
	case <-time.After(f.lastsFor / 3):
	case <-play.Done():
		return nil
	}
	report, err := s.forecast(ctx)
	if err == nil {
		s.foretold = busiest(report, end.Add(-2*demoResolution))
	}
	return err
}

func (s *stage) forecast(ctx context.Context) (forecast.Report, error) {
	maker, err := forecast.New(ctx, s.db, forecast.Options{Prefix: s.prefix, Name: s.worker.Name()})
	if err == nil {
		_, err = maker.Make(ctx)
	}
	if err != nil {
		return forecast.Report{}, err
	}
	return forecast.Slots(ctx, s.db, s.prefix, "")
}

// busiest is the slot with the most checks of those that begin after the forecast was made, and before some time; nil where none has any.
func busiest(report forecast.Report, before time.Time) (most *foretold) {
	for _, p := range report.Slots {
		if p.Start.After(report.MadeAt) && p.Start.Before(before) && p.Due > 0 && (most == nil || p.Due > most.Due) {
			most = &foretold{Slot: p.Start, MadeAt: report.MadeAt, How: p.How, Due: p.Due, Occurrences: p.Occurrences, EndsAt: p.EndsAt}
		}
	}
	return most
}

// cameTrue adds what the slot had.
func (s *stage) cameTrue(ctx context.Context) error {
	t := s.foretold
	if t == nil {
		return nil
	}
	var lasted *int64
	err := s.db.GetContext(ctx, &t.Had, "SELECT COALESCE(SUM(moved + put_off + done + max_checks + past_return + beyond_horizon + failed + timed_out + crashed + dropped + expired), 0) FROM "+
		s.prefix+"slot_run WHERE slot = ?", t.Slot)
	if err == nil {
		err = s.db.GetContext(ctx, &lasted, "SELECT MAX(longest_lateness_ms + longest_run_ms) FROM "+s.prefix+"exec_run WHERE slot = ?", t.Slot)
	}
	if err == nil && lasted != nil {
		ended := t.Slot.Add(time.Duration(*lasted) * time.Millisecond)
		t.EndedAt = &ended
	}
	if err == nil {
		err = s.db.GetContext(ctx, &t.Cancelled, "SELECT COUNT(*) FROM "+s.prefix+"job_history WHERE slot = ? AND outcome = 'cancelled' AND ended_at >= ?", t.Slot, t.MadeAt)
	}
	if err != nil {
		return fmt.Errorf("comparing a forecast with the ledger: %w", err)
	}
	return nil
}

// String is the line of the books.
func (t foretold) String() string {
	after := func(at *time.Time) string {
		if at == nil {
			return "an unknown time"
		}
		return fmt.Sprint(at.Sub(t.Slot).Round(time.Millisecond))
	}
	return fmt.Sprintf("of the slot %s, %s ahead: %d checks, the last call done after %s; it had %d, done after %s (%d were cancelled since, others inserted)",
		t.Slot.Format(time.TimeOnly), t.Slot.Sub(t.MadeAt).Round(100*time.Millisecond), t.Due+t.Occurrences, after(t.EndsAt), t.Had, after(t.EndedAt), t.Cancelled)
}
