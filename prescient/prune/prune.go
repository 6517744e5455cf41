package prune

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
	"prescient/sql/migrate"
)

const (
	// MinKeep is the least that Run can be told to keep: older ledger rows are no longer needed to tell a worker that
	// slept that its lease was lost.
	MinKeep = 24 * time.Hour
	// PartitionsAhead is how many partitions of history are kept ready after the one that is now.
	PartitionsAhead = 8
	// DefaultMaxCopy is the most rows that are copied to split the last partition.
	DefaultMaxCopy = 20000
	// DefaultPatience is how long a change of partitions is tried again.
	DefaultPatience = migrate.DefaultPatience
)

// Errors of Run and KeepPartitions.
var (
	// ErrHistoryHeld is returned when partitions could not be changed because somebody had history open the whole time.
	// All else was done; it can be called again.
	ErrHistoryHeld = errors.New("history is held open")
	// ErrPartitions is returned when history has not the partitions that migrations gave it.
	ErrPartitions = errors.New("history is not partitioned as it should be")
	// ErrPruning is returned when somebody else prunes the same tables.
	ErrPruning = migrate.ErrPruning
)

// Options are for Run and KeepPartitions.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Keep is how long history and ledger are kept: at least MinKeep. Only Run takes it, and needs it.
	Keep time.Duration
	// KeepAudit is how long entries of the audit are kept; at least MinKeep, 0 for ever. The entry of the version that
	// an object has stays, and the latest of a job_exec. Only Run takes it.
	KeepAudit time.Duration
	// MaxCopy is the most rows that are copied to split the last partition, which keeps runs from writing history
	// meanwhile, about a second for 50,000; DefaultMaxCopy by default.
	MaxCopy int
	// Patience bounds how long changes of partitions are tried again while somebody has history open;
	// DefaultPatience by default.
	Patience time.Duration
	// TrustClock has Run drop what is old by the clock of the database, though for most of Keep there is neither history
	// nor ledger: nothing ran in that time. Otherwise it refuses that with ErrClockDoubtful, since the clock may have jumped
	// ahead, and all that there is would go.
	TrustClock bool
	// Progress, where given, is called with what was done so far, after each step.
	Progress func(Report)
	// Log gets a line for each try that failed.
	Log zerolog.Logger
}

// Report says what was done.
type Report struct {
	// Cutoff is the time before which things may go; nil from KeepPartitions.
	Cutoff *time.Time `json:"cutoff,omitempty"`
	// Made and Dropped are names of partitions.
	Made    []string `json:"made"`
	Dropped []string `json:"dropped"`
	// ReadyUntil is the end of the last partition that is ready.
	ReadyUntil time.Time `json:"ready_until,omitzero"`
	// Undivided is set where more rows than MaxCopy lie in the last partition, so that it was left as it is.
	Undivided bool `json:"undivided"`
	// HistoryRows is how many rows were deleted from the last partition, which is never dropped.
	HistoryRows int `json:"history_rows"`
	// LedgerRows is how many rows of the ledger were deleted, LedgerSlotsKept for how many old slots it was kept, since
	// they still hold rows or are being run.
	LedgerRows      int `json:"ledger_rows"`
	LedgerSlotsKept int `json:"ledger_slots_kept"`
	// LongRuns is how many long runs were deleted that ended.
	LongRuns int `json:"long_runs"`
	// RunLogRows is how many rows of job_run_log and step_run_log were deleted.
	RunLogRows int `json:"run_log_rows"`
	// EventRows is how many rows of event_count, event_seen and event_published were deleted, DroppedDays the partitions of event_published
	// that were dropped.
	EventRows   int      `json:"event_rows"`
	DroppedDays []string `json:"dropped_days,omitempty"`
	// AuditRows is how many entries of the audit were deleted, AuditCutoff the time before which they may go; nil where all are kept.
	AuditRows   int        `json:"audit_rows,omitempty"`
	AuditCutoff *time.Time `json:"audit_cutoff,omitempty"`
	// HeldBy is who had history open, with ErrHistoryHeld; as far as the server tells.
	HeldBy []Holder `json:"held_by,omitempty"`
}

// Holder is a connection that has history open, or (on MariaDB without performance_schema) any open transaction.
type Holder = migrate.Holder

// Run drops what is older than options.Keep: partitions of history that are wholly older, and the ledger of slots
// that are, nothing of which is pending or being run, long runs that ended, the logs of jobs, and what is known of events that were published. So history is kept for Keep and at most a week longer.
// What lies in the last partition, because none was ready when it ended, is deleted in batches of rows. It also keeps
// partitions ready as KeepPartitions does. db is from connect.Open, and its user owns the tables.
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
	return run(ctx, db, options, func(p *pruner, now time.Time) error {
		cutoff := now.Add(-options.Keep).Truncate(time.Second)
		if err := p.checkClock(ctx, now, cutoff); err != nil {
			return err
		}
		p.report.Cutoff = &cutoff
		if err := p.emptyLater(ctx, cutoff); err != nil {
			return err
		}
		later := p.partition(ctx, history, now, cutoff)
		if later != nil && !errors.Is(later, ErrHistoryHeld) {
			return later
		}
		return errors.Join(later, p.pruneLedger(ctx, cutoff), p.pruneLongRuns(ctx, cutoff), p.pruneRunLogs(ctx, cutoff), p.pruneEvents(ctx, now, cutoff), p.pruneDeleted(ctx, cutoff), p.pruneAudit(ctx, now), p.record(ctx), p.whatIsLeft())
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

// pruner prunes on one connection, which is thrown away afterwards for the settings that it has.
type pruner struct {
	tables  store.Tables
	conn    *sqlx.Conn
	ddl     *migrate.DDL // on that connection
	options Options
	report  Report
	left    error // the first of what was left to the next prune, since somebody has rows of it locked
}

func run(ctx context.Context, db *sqlx.DB, options Options, do func(p *pruner, now time.Time) error) (Report, error) {
	options.MaxCopy = cmp.Or(options.MaxCopy, DefaultMaxCopy)
	options.Patience = cmp.Or(options.Patience, DefaultPatience)
	if options.MaxCopy < 0 || options.Patience < 0 {
		return Report{}, fmt.Errorf("%w: neither the rows to copy nor the patience can be negative", prescient.ErrInvalid)
	}
	t, err := store.OpenTables(ctx, db, options.Prefix, 0, text.Auto) // its statements are the same in both dialects
	if err != nil {
		return Report{}, err
	}
	conn, err := db.Connx(ctx)
	if err != nil {
		return Report{}, err
	}
	defer func() {
		// This closes it for good, with its lock and its lock_wait_timeout.
		store.Drop(conn.Conn)
		_ = conn.Close()
	}()
	p := &pruner{tables: t, conn: conn, options: options, report: Report{Made: []string{}, Dropped: []string{}}}
	if err := p.lock(ctx); err != nil {
		return p.report, err
	}
	if p.ddl, err = migrate.NewDDL(ctx, db.DB, conn.Conn, options.Patience); err != nil {
		return p.report, err
	}
	p.ddl.Watch = p
	unlock, err := migrate.Schema{Prefix: p.tables.Prefix}.LockPrune(ctx, conn.Conn, db.DB)
	if err != nil {
		return p.report, fmt.Errorf("locking out prunes on other nodes: %w", err)
	}
	defer unlock()
	var now time.Time
	if err := conn.QueryRowxContext(ctx, "SELECT UTC_TIMESTAMP(6)").Scan(&now); err != nil {
		return p.report, fmt.Errorf("reading the database's clock: %w", err)
	}
	err = do(p, now)
	return p.report, err
}

// lock keeps others from pruning.
func (p *pruner) lock(ctx context.Context) error {
	const waitSeconds = 5
	var got sql.NullInt64
	err := p.conn.QueryRowxContext(ctx, "SELECT GET_LOCK(CONCAT('prescient-prune:', LEFT(SHA2(CONCAT(DATABASE(), '/', ?), 256), 32)), ?)",
		p.tables.Prefix, waitSeconds).Scan(&got)
	if err == nil && got.Int64 != 1 {
		err = fmt.Errorf("%w: waited %d s", ErrPruning, waitSeconds)
	}
	if err != nil {
		return fmt.Errorf("locking out other prunes: %w", err)
	}
	return nil
}

// did tells of progress.
func (p *pruner) did() {
	if p.options.Progress != nil {
		p.options.Progress(p.report)
	}
}

// pruneBatch is how many rows are deleted at a time.
const pruneBatch = 1000

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

// pruneDeleted forgets schedules that were deleted.
func (p *pruner) pruneDeleted(ctx context.Context, cutoff time.Time) error {
	var forgotten int
	return p.deleteAll(ctx, p.tables.Stmt.Get("prune/schedules_deleted"), cutoff, &forgotten)
}

// pruneRunLogs deletes the logs of runs of jobs that were due before, and of their steps.
func (p *pruner) pruneRunLogs(ctx context.Context, cutoff time.Time) error {
	if err := p.deleteAll(ctx, p.tables.Stmt.Get("prune/job_runs"), cutoff, &p.report.RunLogRows); err != nil {
		return err
	}
	return p.deleteAll(ctx, p.tables.Stmt.Get("prune/step_runs"), cutoff, &p.report.RunLogRows)
}

// rowPatience bounds how long a batch is tried again of which somebody has rows locked: the next prune deletes it.
const rowPatience = 5 * time.Second

// whatIsLeft says what was left to the next prune.
func (p *pruner) whatIsLeft() error { return p.left }

// leave takes note that somebody has rows locked that should go, and who that may be.
func (p *pruner) leave(ctx context.Context, err error) error {
	held := migrate.Schema{Prefix: p.tables.Prefix}.RowsHeld(ctx, p.conn, err)
	if !errors.Is(held, migrate.ErrHeld) {
		return err
	}
	p.options.Log.Info().Err(held).Msg("what is old and locked is left to the next prune")
	if p.left == nil {
		p.left = fmt.Errorf("%w; the next prune deletes it", held)
	}
	return nil
}

// deleteAll deletes what is older than the cutoff, batch by batch. It leaves a batch of which somebody has rows locked, and what is behind it.
func (p *pruner) deleteAll(ctx context.Context, statement string, cutoff time.Time, deleted *int) error {
	for {
		n, err := p.delete(ctx, statement, cutoff, pruneBatch)
		if err != nil {
			return p.leave(ctx, fmt.Errorf("deleting what is old: %w", err))
		}
		*deleted += n
		if n > 0 {
			p.did()
		}
		if n < pruneBatch {
			return nil
		}
	}
}

// delete runs a statement that deletes a batch, and may be repeated.
func (p *pruner) delete(ctx context.Context, statement string, args ...any) (n int, err error) {
	err = p.retryFor(ctx, min(rowPatience, p.options.Patience), "deleting", func(ctx context.Context) error {
		n, err = store.Affected(ctx, p.conn, statement, args...)
		return err
	})
	return n, err
}

// pruneAudit deletes old entries of the audit, but that of the version which an object has. The entry that then is the first of an object is
// marked, so that the doctor does not miss any.
func (p *pruner) pruneAudit(ctx context.Context, now time.Time) error {
	if p.options.KeepAudit == 0 {
		return nil
	}
	cutoff := now.Add(-p.options.KeepAudit).Truncate(time.Second)
	p.report.AuditCutoff = &cutoff
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
