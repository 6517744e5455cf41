package demo

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/schedule"
)

// The shop's report: a schedule.
const (
	reportSchedule = "shop-report"
	reportExec     = "shop-report"
	reportEvery    = 5 * time.Second
)

// registerReport registers the timers of schedules, and the report.
func (s *stage) registerReport(registry *prescient.Registry, t *teller) error {
	if err := s.schedules.Register(registry); err != nil {
		return err
	}
	report := func(ctx context.Context, run schedule.Run) error {
		var open int
		if err := s.db.GetContext(ctx, &open, "SELECT COUNT(*) FROM "+s.prefix+"orders WHERE shipped_at IS NULL"); err != nil {
			return fmt.Errorf("counting open orders: %w", err)
		}
		t.report(run, open)
		return nil
	}
	return registry.Register(reportExec, s.schedules.Func(s.db, report), prescient.Guards{})
}

// createReport makes the schedule.
func (s *stage) createReport(ctx context.Context) error {
	_, err := s.schedules.Create(ctx, s.app, schedule.Schedule{ID: reportSchedule, Crontabs: []string{"@every " + reportEvery.String()}, JobExec: reportExec})
	return err
}

// takeReports takes the rows of the schedule out of those that are pending and ended, and says how often it ran. It is a problem
// where the times at which it was due are not a report apart, or one did not end as done.
func takeReports(pending []prescient.FutureJob, ended []client.Ended) (ofOrders []prescient.FutureJob, endsOfOrders []client.Ended, runs int, problems []string) {
	for _, job := range pending {
		if job.EntityName != prescient.ScheduleEntity {
			ofOrders = append(ofOrders, job)
		}
	}
	var later time.Time // the latest end comes first
	for _, end := range ended {
		if end.EntityName != prescient.ScheduleEntity {
			endsOfOrders = append(endsOfOrders, end)
			continue
		}
		runs++
		switch {
		case end.Outcome != prescient.Done:
			problems = append(problems, fmt.Sprintf("the report of %s ended as %s", end.DueAt.Format(time.TimeOnly), end.Outcome))
		case !later.IsZero() && later.Sub(end.DueAt) != reportEvery:
			problems = append(problems, fmt.Sprintf("after the report of %s came that of %s", end.DueAt.Format(time.TimeOnly), later.Format(time.TimeOnly)))
		}
		later = end.DueAt
	}
	return ofOrders, endsOfOrders, runs, problems
}
