package stage

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"prescient/scripts/chaos/checker"
)

// Play plays the scenario and returns the verdict. Things break for as long as duration, and until there are as many rows
// as are wanted.
func (s *Stage) Play(ctx context.Context, duration time.Duration) (report checker.Report, err error) {
	if err := s.open(ctx); err != nil {
		return report, err
	}
	defer s.App.Close()
	if err := s.makeWeeks(ctx); err != nil {
		return report, err
	}
	if s.Scenario.Prepare != nil {
		if err := s.Scenario.Prepare(ctx, s); err != nil {
			return report, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := errors.Join(s.reports.listen(ctx), watchClock(ctx, s.clockDSN(), s.journal)); err != nil {
		return report, err
	}
	watchMachine(ctx, s.journal)
	playing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer stop()
		for on := Pause(playing, duration); on && s.journal.Inserted() < s.Rows; {
			on = Pause(playing, 100*time.Millisecond)
		}
	}()
	s.crew = &crew{program: s.ClockProgram, dir: s.Dir, socket: s.reports.socket, seed: s.Seed, env: s.env,
		dsn: s.workerDSN, wire: s.wire, command: s.Scenario.Workers.Command, journal: s.journal, log: s.Logf}
	if !s.Scenario.Workers.Clock {
		if s.crew.program, err = os.Executable(); err != nil {
			return report, err
		}
	}
	s.crew.hire(ctx, max(s.Scenario.Workers.Number, 3))
	defer s.crew.dismiss()
	s.begun.Store(true)
	var busy sync.WaitGroup
	for i := range apps {
		busy.Go(func() { s.newApp(uint64(i)).ask(playing) })
	}
	for i := range planners {
		busy.Go(func() { s.newPlanner(uint64(i)).plan(playing) })
	}
	if s.hasJobs() {
		busy.Go(func() { s.editJobs(playing) })
		for i := range writers {
			busy.Go(func() { s.writeChanges(playing, s.Dice(300+uint64(i))) })
		}
	}
	if s.Scenario.Faults != nil {
		busy.Go(func() { s.Scenario.Faults(playing, s) })
	}
	busy.Wait()
	s.over.Store(true)
	if err := s.tellHours(ctx); err != nil {
		return report, err
	}
	if err := s.drain(ctx); err != nil {
		return report, err
	}
	stopped := s.journal.Now()
	s.crew.dismiss()
	if report, err = s.judge(ctx, stopped); err != nil {
		return report, err
	}
	report.Findings = append(report.Findings, s.found...)
	if report.StoodStill > 0 {
		s.Logf("%s %s: the machine stood still for %s in all, which may have cost leases", s.Engine.Name, s.Scenario.Name, report.StoodStill.Round(10*time.Millisecond))
	}
	return report, s.journal.Close()
}

func (s *Stage) newApp(number uint64) *app {
	return &app{db: s.App, client: s.Client, journal: s.journal, load: s.Scenario.Load, sharded: s.Engine.Vitess != nil, dice: s.Dice(100 + number), ids: int64(number+1) * 1_000_000}
}
