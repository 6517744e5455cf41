package prune

import (
	"errors"
	"time"

	"github.com/rs/zerolog"

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
	// KeepStats is how long the sums of days are kept; at least MinKeepStats, DefaultKeepStats by default. Only Run takes it.
	KeepStats time.Duration
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
	// UnsummedFrom is the first hour of what should go that could not be summed up, so that history from there on stays; nil where all was.
	UnsummedFrom *time.Time `json:"unsummed_from,omitempty"`
	// StatsRows is how many old rows of the sums were deleted.
	StatsRows int `json:"stats_rows,omitempty"`
	// StatsLeft says that another process summed up all the while, so that old rows of the sums are left to the next prune.
	StatsLeft bool `json:"stats_left,omitempty"`
	// AuditRows is how many entries of the audit were deleted, AuditCutoff the time before which they may go; nil where all are kept.
	AuditRows   int        `json:"audit_rows,omitempty"`
	AuditCutoff *time.Time `json:"audit_cutoff,omitempty"`
	// HeldBy is who had history open, with ErrHistoryHeld; as far as the server tells.
	HeldBy []Holder `json:"held_by,omitempty"`
}

// Holder is a connection that has history open, or (on MariaDB without performance_schema) any open transaction.
type Holder = migrate.Holder
