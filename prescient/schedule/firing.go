package schedule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/internal/catchup"
	"prescient/prescient/schedule/internal/occurrences"
)

// timerTimeout is how long the call for a few hundred timers may take: that after a long outage inserts many runs.
const timerTimeout = time.Minute

// timerCalls is how many calls for timers a worker makes at a time. Each is a transaction for up to 1000. With 16 at a time, the
// default, they had their rows locked for so long, on two cores, that they were given ever fewer of them, and a slot of 10,000 runs took
// 32 s in place of 3 (scripts/bench/run schedules).
const timerCalls = 4

// Register adds the job_exec of timers to a registry, without which schedules do not fire. Every worker that may meet a timer needs
// it; one that has it not puts timers off. The error is that of Registry.Register.
func (s *Schedules) Register(registry *prescient.Registry) error {
	err := registry.RegisterTxBatch(TimerExec, s.fireTimers, prescient.Guards{Timeout: timerTimeout, Endless: true, Concurrency: timerCalls})
	if err == nil {
		registry.SetPart(TimerExec)
	}
	return err
}

// fireTimers is the call for timers that are due: it does what catchup says for each, by a few statements for all.
func (s *Schedules) fireTimers(ctx context.Context, tx *sqlx.Tx, batch *prescient.Batch) error {
	timers := batch.Jobs()
	ids := idsOf(timers, func(timer prescient.FutureJob) string { return timer.EntityKey })
	// A run reads its payload when it is called; an event takes it along.
	found, err := s.find(ctx, tx, ids, ofEvents, store.Plainly)
	if err != nil {
		return err
	}
	f := s.newFiring(found...)
	for _, one := range found {
		f.left.bytes -= one.size
	}
	if f.left.bytes < 0 && len(timers) > 1 {
		return fmt.Errorf("events of %d timers have %d bytes of payload, and a call sends up to %d: each is called by itself",
			len(timers), s.bounds.bytes-f.left.bytes, s.bounds.bytes)
	}
	if err := f.look(ctx, tx, timers); err != nil {
		return err
	}
	for i, timer := range timers {
		one, there := f.of[timer.EntityKey]
		// A row of somebody's own may have the name of this job_exec.
		if !there || !one.Enabled || timer.Entity() != f.own.Entity(one.ID) || timer.Tag != "" {
			batch.Settle(i)
			continue
		}
		switch next, err := f.one(one, timer, len(timers)-i); {
		case err != nil:
			batch.Fail(i, err)
		case next.IsZero():
			batch.Settle(i)
		default:
			batch.Next(i, next)
		}
	}
	if err := f.contest(ctx, tx, timers, batch); err != nil {
		return err
	}
	if s.onSent != nil {
		batch.AfterTx(func(committed bool) {
			if committed {
				f.tellSent()
			}
		})
	}
	return f.write(ctx, tx, len(timers) == 1)
}

// tellSent tells the heartbeats of schedules whose events are in the outbox.
func (f *firing) tellSent() {
	for _, e := range f.events {
		if name := f.of[e.Key].Heartbeat; name != "" {
			f.onSent(name)
		}
	}
}

// firing is what the call for some timers does.
type firing struct {
	*Schedules
	of      map[string]Stored      // schedules that are there, by id
	called  map[prescient.Key]bool // runs that were called before their timers, which were held up
	now     time.Time
	left    bounds // what may be added yet
	events  []sent
	runs    []prescient.NewJob
	passed  []string // ids
	placed  []string // ids
	kept    map[string]occurrences.Ahead
	caught  map[string]int // how many missed occurrences a catch-up has fired, by id: 0 of one that is over
	over    []string       // ids of schedules that have no more occurrences
	reasons map[string]string
}

func (s *Schedules) newFiring(found ...Stored) *firing {
	return &firing{Schedules: s, of: byID(found), left: s.bounds, reasons: make(map[string]string), caught: make(map[string]int),
		kept: make(map[string]occurrences.Ahead)}
}

// timeOf is when a timer is called. What a clock tells may be a moment behind: it is never called before its slot.
func timeOf(timer prescient.FutureJob) time.Time {
	if timer.CalledAt.Before(timer.NextCheckAt) {
		return timer.NextCheckAt
	}
	return timer.CalledAt
}

// look finds out which runs of missed occurrences were called in time, since only their timers were held up: these were moved from
// slot to slot, and the run is not there any more, or was called. That is wrong of a run that was called at the end of an outage, of
// a timer that was held up then: no row tells the two apart.
func (f *firing) look(ctx context.Context, tx *sqlx.Tx, timers []prescient.FutureJob) error {
	grid := f.tables.Grid
	f.called = make(map[prescient.Key]bool)
	for _, timer := range timers {
		one := f.of[timer.EntityKey]
		if one.JobExec != "" && one.caught == 0 && timer.NextCheckAt.After(grid.Ceil(timer.DueAt)) && one.rules().Missed(grid, timer.DueAt, grid.Floor(timeOf(timer))) {
			f.called[runKey(timer.Entity(), one.JobExec, timer.DueAt)] = true
		}
	}
	if len(f.called) == 0 {
		return nil
	}
	waiting, err := f.own.Pending(ctx, tx, slices.Collect(maps.Keys(f.called)))
	for _, run := range waiting {
		f.called[run.Key()] = run.CheckCount+run.ErrorCount > 0
	}
	return err
}

func runKey(e prescient.Entity, jobExec string, due time.Time) prescient.Key {
	return prescient.KeyOf(e, jobExec, tagOf(due))
}

// one takes what a timer's call does for its schedule, and returns the occurrence that it is to wait for; zero for none. It is the
// first of so many timers. An error is of a schedule that was good when it was made.
func (f *firing) one(one Stored, timer prescient.FutureJob, timers int) (next time.Time, err error) {
	f.now = timeOf(timer)
	if one.Version == 0 {
		return f.place(one, f.now), nil
	}
	line, err := one.timeline(f.zones, one.CreatedAt)
	if err != nil {
		return time.Time{}, err
	}
	if one.Topic != "" { // as somebody's own SQL may have changed it: all events of a call go by one statement
		if err := eventOf(one, timer.DueAt, tagOf(timer.DueAt)).Validate(); err != nil {
			return time.Time{}, err
		}
	}
	most := f.left.sent / timers
	if one.size > 0 {
		most = min(most, f.left.bytes/timers/one.size)
	}
	w := line.WalkFrom(timer.DueAt, one.kept)
	do := one.rules().Fire(w, f.tables.Grid, catchup.Call{Due: timer.DueAt, Slot: timer.NextCheckAt, Now: f.now, Caught: one.caught, Most: most,
		Ran: f.called[runKey(timer.Entity(), one.JobExec, timer.DueAt)]})
	f.take(one, do)
	if kept := w.Keeps(); kept != one.kept && !do.Next.IsZero() {
		f.kept[one.ID] = kept
	}
	if more := len(do.Events) + len(do.Runs) - 1; more > 0 {
		f.left = bounds{f.left.sent - more, f.left.bytes - more*one.size}
	}
	return do.Next, nil
}

// take takes over a step of a schedule.
func (f *firing) take(one Stored, do catchup.Step) {
	for _, at := range do.Events {
		f.events = append(f.events, eventOf(one, at, tagOf(at)))
	}
	f.runs = append(f.runs, f.Schedules.runs(one.Schedule, do.Runs...)...)
	if do.PassedOver {
		f.passed = append(f.passed, one.ID)
	}
	if do.Caught != one.caught {
		f.caught[one.ID] = do.Caught
	}
	if do.Next.IsZero() {
		f.over = append(f.over, one.ID)
	}
}

// place finds the first occurrence of a schedule that plain SQL inserted. One that is no good it disables.
func (f *firing) place(one Stored, now time.Time) (first time.Time) {
	err := errors.Join(one.Validate(), f.mine(one.Schedule))
	var next awaited
	if err == nil {
		next, err = f.Schedules.first(one.Schedule, one.CreatedAt, now)
	}
	if err == nil && next.at.IsZero() {
		err = errors.New("the schedule has no time to come")
	}
	if err != nil {
		f.reasons[one.ID] = prescient.ReasonText(err)
		return time.Time{}
	}
	f.placed = append(f.placed, one.ID)
	if next.kept != one.kept {
		f.kept[one.ID] = next.kept
	}
	f.runs = append(f.runs, f.Schedules.runs(one.Schedule, next.at)...)
	return next.at
}

// reasonOver is why a schedule that fired for the last time is disabled.
const reasonOver = "it has no more occurrences"
