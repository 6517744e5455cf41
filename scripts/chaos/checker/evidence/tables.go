package evidence

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// Tables is what the tables hold at the end.
type Tables struct {
	Pending []Pending
	Ended   []Ended
	Runs    []Run
	Lines   []Line // nil where they were not read
	Claims  []Claim
	// AllClaims says that these are all, and that Starts are; otherwise they are the last of each bucket, and nothing is known of starts.
	AllClaims bool
	Starts    []Start
	Effects   []Effect
	Schedules Schedules
	LongRuns  []LongRun
	Jobs      Jobs
	Changes   Changes
	Sums      *Sums // nil where nothing was summed up
}

// LongRun is a row of long_run.
type LongRun struct {
	Key     []byte // job_key
	Agent   string
	Until   time.Time // zero where nobody has it
	Ended   bool
	Pending bool // a check of that key is
}

// Pending is a row of future_job.
type Pending struct {
	ID     int64
	Next   time.Time
	Checks int
	Errors int
}

// Ended is a row of job_history.
type Ended struct {
	ID       int64
	Outcome  string
	Checks   int
	Errors   int
	Slot     time.Time
	Worker   string
	Revision uint64
	// Due and ExpiresAt are those of the row, At is when it ended, and Started says whether a call had.
	Due, At   time.Time
	ExpiresAt *time.Time
	Started   bool
}

// Run is a row of slot_run.
type Run struct {
	Slot      time.Time
	Bucket    int
	Buckets   int
	Takeovers int
	Held      bool
	Finished  bool
	ByOutcome map[string]int
	Moved     int
	Of
}

// Line is what exec_run has of a job_exec in a slot.
type Line struct {
	Slot      time.Time
	JobExec   string
	Calls     int
	ByOutcome map[string]int
}

// Effect is what a TxFunc wrote.
type Effect struct {
	ID     int64
	Checks int
}

// Read reads the tables with a prefix, which [Watch] has seen before anything ran. counted are the outcomes for which
// slot_run has a column. The pool needs parseTime and UTC.
func Read(ctx context.Context, db *sql.DB, prefix string, counted []string) (t Tables, err error) {
	const id = "CAST(COALESCE(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.id')), 0) AS SIGNED)"
	err = each(ctx, db, "SELECT "+id+", next_check_at, check_count, error_count FROM "+prefix+"future_job WHERE entity_name NOT IN ('"+ScheduleEntity+"', '"+QueueEntity+"') AND entity_name NOT LIKE '"+OutsiderPrefix+"%'", func(rows *sql.Rows) error {
		var p Pending
		err := rows.Scan(&p.ID, &p.Next, &p.Checks, &p.Errors)
		t.Pending = append(t.Pending, p)
		return err
	})
	if err != nil {
		return t, err
	}
	err = each(ctx, db, "SELECT "+id+", outcome, check_count, error_count, slot, worker, revision, due_at, ended_at, expires_at, started_at IS NOT NULL FROM "+prefix+
		"job_history WHERE entity_name <> '"+ScheduleEntity+"' AND entity_name NOT LIKE '"+OutsiderPrefix+"%'", func(rows *sql.Rows) error {
		var e Ended
		err := rows.Scan(&e.ID, &e.Outcome, &e.Checks, &e.Errors, &e.Slot, &e.Worker, &e.Revision, &e.Due, &e.At, &e.ExpiresAt, &e.Started)
		t.Ended = append(t.Ended, e)
		return err
	})
	if err != nil {
		return t, err
	}
	err = each(ctx, db, "SELECT slot, bucket, buckets, takeovers, allocated_until IS NOT NULL, finished_at IS NOT NULL, moved, "+
		strings.Join(counted, ", ")+" FROM "+prefix+"slot_run", func(rows *sql.Rows) error {
		var r Run
		counts := make([]int, len(counted))
		into := []any{&r.Slot, &r.Bucket, &r.Buckets, &r.Takeovers, &r.Held, &r.Finished, &r.Moved}
		for i := range counts {
			into = append(into, &counts[i])
		}
		err := rows.Scan(into...)
		r.ByOutcome = make(map[string]int)
		for i, outcome := range counted {
			r.ByOutcome[outcome] = counts[i]
		}
		t.Runs = append(t.Runs, r)
		return err
	})
	if err != nil {
		return t, err
	}
	if t.Lines, err = readLines(ctx, db, prefix, counted); err != nil {
		return t, err
	}
	if t.Claims, t.AllClaims, err = readClaims(ctx, db, prefix); err != nil {
		return t, err
	}
	if t.Starts, err = readStarts(ctx, db, prefix); err != nil {
		return t, err
	}
	err = each(ctx, db, "SELECT id, checks FROM "+prefix+"effects", func(rows *sql.Rows) error {
		var e Effect
		err := rows.Scan(&e.ID, &e.Checks)
		t.Effects = append(t.Effects, e)
		return err
	})
	if err != nil {
		return t, err
	}
	err = each(ctx, db, "SELECT job_key, agent, allocated_until, ended_at IS NOT NULL, EXISTS (SELECT 1 FROM "+prefix+"future_job job WHERE job.job_key = run.job_key) FROM "+
		prefix+"long_run run", func(rows *sql.Rows) error {
		var r LongRun
		var until sql.NullTime
		err := rows.Scan(&r.Key, &r.Agent, &until, &r.Ended, &r.Pending)
		r.Until = until.Time
		t.LongRuns = append(t.LongRuns, r)
		return err
	})
	if err != nil {
		return t, err
	}
	if t.Schedules, t.Jobs.Ends, err = readSchedules(ctx, db, prefix); err != nil {
		return t, err
	}
	err = each(ctx, db, "SELECT slot, outcome FROM "+prefix+"job_history WHERE entity_name LIKE '"+OutsiderPrefix+"%'", func(rows *sql.Rows) error {
		var e ScheduleJob
		err := rows.Scan(&e.Slot, &e.Outcome)
		t.Jobs.Ends = append(t.Jobs.Ends, e)
		return err
	})
	if err != nil {
		return t, err
	}
	if err := readJobs(ctx, db, prefix, &t.Jobs); err != nil {
		return t, err
	}
	t.Changes, err = readChanges(ctx, db, prefix)
	return t, err
}

// readLines reads the books by job_exec.
func readLines(ctx context.Context, db *sql.DB, prefix string, counted []string) (lines []Line, err error) {
	lines = []Line{}
	sums := make([]string, len(counted))
	for i, outcome := range counted {
		sums[i] = "SUM(" + outcome + ")"
	}
	err = each(ctx, db, "SELECT slot, job_exec, SUM(calls), "+strings.Join(sums, ", ")+" FROM "+prefix+"exec_run GROUP BY slot, job_exec", func(rows *sql.Rows) error {
		l := Line{ByOutcome: make(map[string]int)}
		counts := make([]int, len(counted))
		into := []any{&l.Slot, &l.JobExec, &l.Calls}
		for i := range counts {
			into = append(into, &counts[i])
		}
		err := rows.Scan(into...)
		for i, outcome := range counted {
			l.ByOutcome[outcome] = counts[i]
		}
		lines = append(lines, l)
		return err
	})
	return lines, err
}
