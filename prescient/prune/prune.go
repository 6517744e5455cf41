package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Run drops what is older than options.Keep: partitions of history that are wholly older, and the ledger of slots
// that are, nothing of which is pending or being run, long runs that ended, the logs of jobs, and what is known of events that were published. So history is kept for Keep and at most a week longer.
// What lies in the last partition, because none was ready when it ended, is deleted in batches of rows. It also keeps
// partitions ready as KeepPartitions does. db is from connect.Open, and its user owns the tables.
//
// What goes of history was summed up before, by hour and by day: what could not be stays, and the report says from when on. Sums of hours are
// kept 90 days, those of days for options.KeepStats.
//
// It leaves an entry in the audit, where it came that far.
//
// It holds up a slot run for a second at most, on MariaDB for three, and seldom: only while somebody has history open. It
// may be called at any time, and again after an error: ErrHistoryHeld, a [migrate.HeldError] where rows were locked and left, ErrClockDoubtful, ErrPruning, ErrPartitions,
// prescient.ErrNotMigrated, prescient.ErrInvalid; others come from the server. The report says what was done in any case.
func Run(ctx context.Context, db *sqlx.DB, options Options) (Report, error) {
	if options.Keep < MinKeep {
		return Report{}, fmt.Errorf("%w: keep %s: at least %s are kept", prescient.ErrInvalid, options.Keep, MinKeep)
	}
	if options.KeepAudit != 0 && options.KeepAudit < MinKeep {
		return Report{}, fmt.Errorf("%w: keep the audit for %s: at least %s are kept", prescient.ErrInvalid, options.KeepAudit, MinKeep)
	}
	if options.KeepStats = cmp.Or(options.KeepStats, DefaultKeepStats); options.KeepStats < MinKeepStats {
		return Report{}, fmt.Errorf("%w: keep the sums of days for %s: at least %s are kept", prescient.ErrInvalid, options.KeepStats, MinKeepStats)
	}
	return run(ctx, db, options, func(p *pruner, now time.Time) error {
		cutoff := now.Add(-options.Keep).Truncate(time.Second)
		if err := p.checkClock(ctx, now, cutoff); err != nil {
			return err
		}
		p.report.Cutoff = &cutoff
		summed, unsummed := p.sumFirst(ctx, now, cutoff)
		if err := p.emptyLater(ctx, summed); err != nil {
			return cmp.Or(unsummed, err)
		}
		later := p.partition(ctx, history, now, summed)
		if later != nil && !errors.Is(later, ErrHistoryHeld) {
			return errors.Join(unsummed, later)
		}
		return errors.Join(unsummed, later, p.pruneLedger(ctx, cutoff), p.pruneLongRuns(ctx, cutoff), p.pruneRunLogs(ctx, cutoff), p.pruneEvents(ctx, now, cutoff), p.pruneDeleted(ctx, cutoff), p.pruneRules(ctx, cutoff), p.pruneKnown(ctx, cutoff), p.pruneTokens(ctx, cutoff), p.pruneStats(ctx, now), p.pruneAudit(ctx, now), p.record(ctx), p.whatIsLeft())
	})
}

// KeepPartitions makes the partitions of history that are missing: that of now and PartitionsAhead more. They are cut
// off the last partition, which is empty unless nobody did this for long; with more than options.MaxCopy rows in it, it
// is left as it is and the report says so. Its errors are those of Run.
func KeepPartitions(ctx context.Context, db *sqlx.DB, options Options) (Report, error) {
	return run(ctx, db, options, func(p *pruner, now time.Time) error {
		return p.partition(ctx, history, now, time.Time{})
	})
}

// emptyLater deletes from the last partition what is older.
func (p *pruner) emptyLater(ctx context.Context, cutoff time.Time) error {
	return p.deleteAll(ctx, p.fill(history, "prune/later_end"), cutoff, &p.report.HistoryRows)
}

// pruneLongRuns deletes what ended before, and none has come after; and what nobody will end, as its check is gone.
func (p *pruner) pruneLongRuns(ctx context.Context, cutoff time.Time) error {
	if err := p.deleteAll(ctx, p.tables.Stmt.Get("prune/long_runs_left"), cutoff, &p.report.LongRuns); err != nil {
		return err
	}
	return p.deleteAll(ctx, p.tables.Stmt.Get("prune/long_runs"), cutoff, &p.report.LongRuns)
}

// pruneDeleted forgets schedules that were deleted, with what they were.
func (p *pruner) pruneDeleted(ctx context.Context, cutoff time.Time) error {
	var forgotten int
	return p.deleteBy(ctx, func(ctx context.Context) (int, error) { return p.forgetDeleted(ctx, cutoff) }, &forgotten)
}

// schedulesAtATime is of how many schedules the versions are deleted by a statement.
const schedulesAtATime = 50

// forgetDeleted forgets a batch of them. Of an id that a schedule has again the versions stay.
func (p *pruner) forgetDeleted(ctx context.Context, cutoff time.Time) (int, error) {
	type gone struct {
		id    string
		again bool
	}
	all, err := store.Rows(ctx, p.conn, "reading schedules that were deleted", p.tables.Stmt.Get("prune/schedules_gone"), func(row *gone) []any {
		return []any{store.Unhex(&row.id), &row.again}
	}, cutoff, pruneBatch)
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(all, schedulesAtATime) {
		var ids, versions []string
		for _, one := range some {
			ids = append(ids, one.id)
			if !one.again {
				versions = append(versions, one.id)
			}
		}
		if len(versions) > 0 {
			if _, err := store.Affected(ctx, p.conn, p.tables.Fill("prune/schedule_versions", "{ids}", literal.List(literal.AppendText, versions))); err != nil {
				return 0, err
			}
		}
		if _, err := store.Affected(ctx, p.conn, p.tables.Fill("prune/schedules_deleted", "{ids}", literal.List(literal.AppendText, ids)), cutoff); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// pruneKnown forgets job_execs that no worker has any more.
func (p *pruner) pruneKnown(ctx context.Context, cutoff time.Time) error {
	var forgotten int
	return p.deleteAll(ctx, p.tables.Stmt.Get("prune/exec_known"), cutoff, &forgotten)
}

// pruneTokens forgets tokens of the API that ended; one that was revoked before its end goes with that, too.
func (p *pruner) pruneTokens(ctx context.Context, cutoff time.Time) error {
	var forgotten int
	return p.deleteAll(ctx, p.tables.Stmt.Get("prune/tokens"), cutoff, &forgotten)
}

// pruneRunLogs deletes the logs of runs of jobs that were due before, and of their steps.
func (p *pruner) pruneRunLogs(ctx context.Context, cutoff time.Time) error {
	if err := p.deleteAll(ctx, p.tables.Stmt.Get("prune/job_runs"), cutoff, &p.report.RunLogRows); err != nil {
		return err
	}
	return p.deleteAll(ctx, p.tables.Stmt.Get("prune/step_runs"), cutoff, &p.report.RunLogRows)
}

// pruneAudit deletes old entries of the audit, but that of the version which an object has. The entry that then is the first of an object is
// marked, so that the doctor does not miss any.
func (p *pruner) pruneAudit(ctx context.Context, now time.Time) error {
	if p.options.KeepAudit == 0 {
		return nil
	}
	cutoff := now.Add(-p.options.KeepAudit).Truncate(time.Second)
	p.report.AuditCutoff = &cutoff
	if err := p.pruneBulk(ctx, cutoff); err != nil {
		return err
	}
	before := literal.Of(literal.AppendMicro, cutoff)
	behind, log := "1 = 1", oldAudit{&p.tables, p.conn}
	for {
		var page []old
		err := p.retry(ctx, "reading the audit", func(ctx context.Context) (err error) {
			page, err = log.read(ctx, before, behind, pruneBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("reading the audit: %w", err)
		}
		if len(page) == 0 {
			return nil
		}
		var n int
		err = p.retry(ctx, "deleting old entries of the audit", func(ctx context.Context) (err error) {
			n, err = log.end(ctx, page)
			return err
		})
		if err != nil {
			return fmt.Errorf("deleting old entries of the audit: %w", err)
		}
		p.report.AuditRows += n
		p.did()
		behind = page[len(page)-1].behind()
	}
}

// record writes the audit of a prune. What it did took many transactions, so that the entry comes after them.
func (p *pruner) record(ctx context.Context) error {
	err := p.retry(ctx, "writing the audit", func(ctx context.Context) error {
		return audit.On(&p.tables).Record(ctx, p.conn, audit.Entry{Kind: audit.Installation, ID: audit.InstallationID, Verb: "prune", After: p.report})
	})
	if err != nil {
		return fmt.Errorf("writing the audit of the prune: %w", err)
	}
	return nil
}
