package schedule

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/internal/kept"
)

// contest locks the schedules whose rows the call for timers is to write to, and leaves out those that somebody else has locked: their timers
// are contested, and nothing is done for them.
func (f *firing) contest(ctx context.Context, tx *sqlx.Tx, timers []prescient.FutureJob, batch *prescient.Batch) error {
	written := slices.Concat(f.passed, f.placed, f.over, slices.Collect(maps.Keys(f.caught)), slices.Collect(maps.Keys(f.reasons)))
	slices.Sort(written)
	written = slices.Compact(written)
	free, err := f.idsBy(ctx, tx, "schedule/lock_free", written)
	if err != nil {
		return err
	}
	contested := slices.DeleteFunc(written, func(id string) bool { return free[id] })
	if len(contested) == 0 {
		return nil
	}
	is := func(id string) bool {
		_, found := slices.BinarySearch(contested, id)
		return found
	}
	f.passed, f.placed, f.over = slices.DeleteFunc(f.passed, is), slices.DeleteFunc(f.placed, is), slices.DeleteFunc(f.over, is)
	maps.DeleteFunc(f.caught, func(id string, _ int) bool { return is(id) })
	maps.DeleteFunc(f.reasons, func(id, _ string) bool { return is(id) })
	f.events = slices.DeleteFunc(f.events, func(e sent) bool { return is(e.Key) })
	f.runs = slices.DeleteFunc(f.runs, func(run prescient.NewJob) bool { return is(run.Entity.Key) })
	for i, timer := range timers {
		if is(timer.EntityKey) {
			batch.Give(i, prescient.Answer{Cause: prescient.CauseContested})
		}
	}
	return nil
}

// write sends the statements. alone says that it is for one timer.
func (f *firing) write(ctx context.Context, tx *sqlx.Tx, alone bool) error {
	if err := f.send(ctx, tx, f.events); err != nil {
		return err
	}
	if err := f.insertRuns(ctx, tx, alone); err != nil {
		return err
	}
	if err := f.tally(ctx, tx); err != nil {
		return err
	}
	if err := f.keep(ctx, tx, f.kept); err != nil {
		return err
	}
	if err := f.switched(ctx, tx, f.over, false, "NULL", literal.Of(literal.AppendText, reasonOver), time.Time{}); err != nil {
		return err
	}
	// A reason has up to 1000 characters.
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(f.reasons)), 100) {
		reasons := []byte("CASE id")
		for _, id := range ids {
			reasons = literal.AppendText(append(reasons, " WHEN "...), id)
			reasons = literal.AppendText(append(reasons, " THEN "...), f.reasons[id])
		}
		if err := f.switched(ctx, tx, ids, false, "UTC_TIMESTAMP(6)", string(append(reasons, " END"...)), time.Time{}); err != nil {
			return err
		}
	}
	if err := kept.Refuse(ctx, f.tables, tx, slices.Sorted(maps.Keys(f.reasons))); err != nil {
		return err
	}
	return f.record(ctx, tx)
}

// tally writes what the rows of schedules keep of their timers' calls: for most of them nothing.
func (f *firing) tally(ctx context.Context, db prescient.DB) error {
	ids := slices.Concat(f.passed, f.placed, slices.Collect(maps.Keys(f.caught)))
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil
	}
	var passed, caught []byte
	when := func(b []byte, id string, n int) []byte {
		return literal.AppendInt(append(literal.AppendText(append(b, "WHEN "...), id), " THEN "...), int64(n))
	}
	for _, id := range f.passed {
		passed = append(when(passed, id, 1), ' ')
	}
	for _, id := range ids {
		n, changed := f.caught[id]
		if !changed {
			n = f.of[id].caught
		}
		caught = append(when(caught, id, n), ' ')
	}
	return f.tables.Exec(ctx, db, "counting what was passed over", "schedule/tally", "{passed}", string(passed), "{caught}", string(caught), "{ids}", idList(ids))
}

// insertRuns makes runs pending. Those of one timer may be there already, where plain SQL has put them: then they stay.
func (f *firing) insertRuns(ctx context.Context, tx *sqlx.Tx, alone bool) error {
	err := f.own.Insert(ctx, tx, f.runs, f.now)
	if err == nil || !alone || !errno.Is(err, errno.DuplicateKey) {
		return err
	}
	for i := range f.runs {
		err := f.own.Insert(ctx, tx, f.runs[i:i+1], f.now)
		if errno.Is(err, errno.DuplicateKey) {
			err = f.isThere(ctx, tx, f.runs[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isThere makes sure that it is the run itself that has its job_key. Two runs of a schedule may have one, of a billion: the timer is
// tried again then, until the other run has ended.
func (f *firing) isThere(ctx context.Context, db prescient.DB, run prescient.NewJob) error {
	found, err := f.own.Pending(ctx, db, []prescient.Key{prescient.KeyOf(run.Entity, run.JobExec, run.Tag)})
	for _, job := range found {
		if job.Entity() != run.Entity || job.JobExec != run.JobExec || job.Tag != run.Tag {
			return fmt.Errorf("%w: the run %s has the job_key of %s of %s, tag %q", prescient.ErrKeyCollision, idOf(run.Entity.Key, run.Tag), job.JobExec, job.Entity(), job.Tag)
		}
	}
	return err
}

// switched enables or disables schedules. disabledAt and reason are expressions; at is when; zero for now.
func (s *Schedules) switched(ctx context.Context, db prescient.DB, ids []string, enabled bool, disabledAt, reason string, at time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	updatedAt := "UTC_TIMESTAMP(6)"
	if !at.IsZero() {
		updatedAt = literal.Of(literal.AppendMicro, at)
	}
	return s.tables.Exec(ctx, db, "enabling or disabling schedules", "schedule/switch", "{updated_at}", updatedAt, "{enabled}", literal.Of(appendBool, enabled),
		"{disabled_at}", disabledAt, "{reason}", reason, "{ids}", idList(ids), "{places}", s.tables.Places(ids...))
}

// record writes the audit of what a call for timers did to their schedules. What they fire is no change.
func (f *firing) record(ctx context.Context, db prescient.DB) error {
	if len(f.placed)+len(f.reasons)+len(f.over) == 0 {
		return nil
	}
	by := audit.Of(ctx)
	by.Command = byTimer
	ctx = audit.With(ctx, by)
	var entries []audit.Entry
	for _, id := range f.over {
		e := madeBy(f.of[id], verbEnd, nextVersion(f.of[id].Version))
		e.Before, e.After = switched{Enabled: true}, switched{DisabledReason: reasonOver}
		entries = append(entries, e)
	}
	var found []Stored // that somebody's own SQL inserted: the audit has nothing of them yet
	for some := range slices.Chunk(slices.AppendSeq(slices.Clone(f.placed), maps.Keys(f.reasons)), idsPerStatement) {
		part, err := f.find(ctx, db, some, toCompare, store.Plainly)
		if err != nil {
			return err
		}
		found = append(found, part...)
	}
	for _, one := range found {
		verb := verbAccept
		if _, refused := f.reasons[one.ID]; refused {
			verb = verbRefuse
		}
		e := madeBy(one, verb, one.Version)
		e.After = stateOfStored(one)
		entries = append(entries, e)
	}
	return f.log.Record(ctx, db, entries...)
}
