package steps

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Phase is what a run does: that of a long run which has not ended, or Ended.
type Phase = longrun.Phase

// Ended is the phase of a run that has.
const Ended Phase = "ended"

// RunLog is a run of a job, or an occurrence that was not run. Times are UTC, by the database's clock.
type RunLog struct {
	Job string `json:"job"`
	// Occurrence tells it from other runs of the job: its unix second, behind m where a person asked for it.
	Occurrence string `json:"occurrence"`
	// Version is that of the job which it keeps; 0 where it did not begin.
	Version     uint64     `json:"version,omitempty"`
	ScheduledAt time.Time  `json:"scheduled_at"`
	StartedAt   *time.Time `json:"started_at,omitempty"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	// Agent has it, or had it last.
	Agent     string `json:"agent,omitempty"`
	Takeovers int    `json:"takeovers,omitempty"`
	Phase     Phase  `json:"phase"`
	// Result is an outcome; empty while it goes on.
	Result string `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
	// Steps are the calls of its steps, in order, where they were asked for.
	Steps []StepLog `json:"steps,omitempty"`

	key prescient.Key
}

// ID is that of the occurrence of the schedule on which the job lies: job/<name>-<occurrence>.
func (r RunLog) ID() string { return scheduleID(r.Job) + "-" + r.Occurrence }

// StepLog is a call of a step.
type StepLog struct {
	Seq      int    `json:"seq"`
	Position int    `json:"position"`
	Step     string `json:"step"`
	JobExec  string `json:"job_exec"`
	// Attempt rises where the step has failed, and is tried again.
	Attempt     int        `json:"attempt"`
	ScheduledAt time.Time  `json:"scheduled_at"`
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Agent       string     `json:"agent"`
	// Result is an outcome, again, handed_on or unregistered; empty while the call goes on, or where its agent let the run lapse.
	Result string `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
	// Output is the end of what it wrote, before which OutputCut bytes were not kept.
	Output    string `json:"output,omitempty"`
	OutputCut int64  `json:"output_cut,omitempty"`
}

// RunFilter narrows a listing of runs. Zero fields do not narrow it.
type RunFilter struct {
	// Job keeps to one job; with an Occurrence, to one run.
	Job, Occurrence string
	// Since keeps to runs that were due at a time or later, and Before to those that were due before another.
	Since, Before time.Time
	// Open keeps to runs that have not ended.
	Open bool
	// Limit is how many runs there are at most; 100 by default, MaxRuns at most.
	Limit int
	// Steps says that the calls of their steps are read, too, and Output that what these have written is.
	Steps, Output bool
}

// MaxRuns is the most runs that a listing has.
const MaxRuns = 10000

// ParseRun reads what names a run: job/<name>-<occurrence>, with or without job/. The error wraps prescient.ErrInvalid.
func ParseRun(id string) (job, occurrence string, err error) {
	job, occurrence, err = schedule.ParseID(strings.TrimPrefix(id, scheduleID("")))
	if err == nil {
		err = validName("name of a job", job)
	}
	if err != nil {
		return "", "", fmt.Errorf("%w: run %.160q is no run; want the name of a job, - and a unix second", prescient.ErrInvalid, id)
	}
	return job, occurrence, nil
}

// Runs lists runs of jobs, the one that was due latest first. The error wraps prescient.ErrInvalid for a filter that is no good.
func (j *Jobs) Runs(ctx context.Context, db prescient.DB, f RunFilter) ([]RunLog, error) {
	query, err := j.runsQuery(f)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading runs of jobs: %w", err)
	}
	defer rows.Close()
	var runs []RunLog
	for rows.Next() {
		run, err := scanRun(rows)
		if err != nil {
			return nil, fmt.Errorf("reading runs of jobs: %w", err)
		}
		runs = append(runs, run)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("reading runs of jobs: %w", err)
	}
	if err := j.endUnseen(ctx, db, runs); err != nil {
		return nil, err
	}
	if f.Steps {
		err = j.addSteps(ctx, db, runs, f.Output)
	}
	return runs, err
}

func (j *Jobs) runsQuery(f RunFilter) (string, error) {
	if f.Limit < 0 || f.Limit > MaxRuns {
		return "", fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, f.Limit, MaxRuns)
	}
	if f.Limit == 0 {
		f.Limit = 100
	}
	index, order, where := "scheduled_at", "log.scheduled_at DESC", []string{"log.scheduled_at < '9999-12-31'"}
	if f.Job != "" {
		if err := validName("name of a job", f.Job); err != nil {
			return "", err
		}
		index, order, where = "job_scheduled_at", "log.job DESC, log.scheduled_at DESC", []string{"log.job = " + text(f.Job)}
	}
	if f.Occurrence != "" {
		if f.Job == "" {
			return "", fmt.Errorf("%w: occurrence %q has no job; name the job", prescient.ErrInvalid, f.Occurrence)
		}
		index, order, where = "PRIMARY", "log.job DESC, log.occurrence DESC", append(where, "log.occurrence = "+text(f.Occurrence))
	}
	if !f.Since.IsZero() {
		where = append(where, "log.scheduled_at >= "+literal.Of(literal.AppendMicro, f.Since))
	}
	if !f.Before.IsZero() {
		where = append(where, "log.scheduled_at < "+literal.Of(literal.AppendMicro, f.Before))
	}
	if f.Open {
		where = append(where, "log.ended_at IS NULL")
		if f.Job == "" {
			index = "ended_at"
		}
	}
	return j.tables.Fill("steps/runs", "{index}", index, "{filter}", strings.Join(where, " AND "), "{order}", order,
		"{limit}", literal.Of(literal.AppendInt, int64(f.Limit))), nil
}

func scanRun(rows *sql.Rows) (run RunLog, err error) {
	var key string
	var version sql.Null[uint64]
	var scheduled, started, ended, agent, result, reason, other sql.NullString
	var under, allocated, lives bool
	if err := rows.Scan(&run.Job, &run.Occurrence, &key, &version, &scheduled, &started, &ended, &agent, &run.Takeovers, &result, &reason,
		&under, &other, &allocated, &lives); err != nil {
		return run, err
	}
	plain, err := hex.DecodeString(key)
	if err != nil {
		return run, err
	}
	run.key, run.Version, run.Result = prescient.Key(plain), version.V, result.String
	var errs [6]error
	run.Agent, errs[0] = unhex(agent)
	run.Error, errs[1] = unhex(reason)
	run.ScheduledAt, errs[2] = store.ParseTime(scheduled.String)
	run.StartedAt, errs[3] = timeOf(started)
	run.EndedAt, errs[4] = timeOf(ended)
	has, err := unhex(other)
	errs[5] = err
	switch {
	case run.EndedAt != nil:
		run.Phase = Ended
	case !under:
		run.Phase = longrun.Lapsed // until history says how it ended
	case lives:
		run.Phase = longrun.Running
	case allocated && has != "":
		run.Phase = longrun.Lapsed
	case allocated:
		run.Phase = longrun.HandedOn
	default:
		run.Phase = longrun.Retried
	}
	return run, errors.Join(errs[:]...)
}

func timeOf(text sql.NullString) (*time.Time, error) {
	if !text.Valid {
		return nil, nil
	}
	t, err := store.ParseTime(text.String)
	return &t, err
}

// endUnseen tells from history how runs ended that nobody had when that was done: the account may not be allowed to read it.
func (j *Jobs) endUnseen(ctx context.Context, db prescient.DB, runs []RunLog) error {
	at := make(map[prescient.Key]int)
	var keys []prescient.Key
	for i, run := range runs {
		if run.Phase == longrun.Lapsed {
			at[run.key] = i
			keys = append(keys, run.key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	rows, err := db.QueryContext(ctx, j.tables.Fill("steps/ends", "{keys}", literal.KeysOf(keys)))
	if errno.Denied(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("reading how runs ended: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, outcome string
		var ended, reason sql.NullString
		if err := rows.Scan(&key, &outcome, &ended, &reason); err != nil {
			return err
		}
		plain, err := hex.DecodeString(key)
		if err != nil {
			return err
		}
		run := &runs[at[prescient.Key(plain)]]
		run.Phase, run.Result = Ended, outcome
		if run.EndedAt, err = timeOf(ended); err != nil {
			return err
		}
		if text, err := unhex(reason); err == nil && text != "" {
			run.Error = text
		}
	}
	return rows.Err()
}

// addSteps reads the calls of the steps of runs.
func (j *Jobs) addSteps(ctx context.Context, db prescient.DB, runs []RunLog, withOutput bool) error {
	const atOnce = 200
	said := "NULL"
	if withOutput {
		said = "output"
	}
	for from := 0; from < len(runs); from += atOnce {
		some := runs[from:min(from+atOnce, len(runs))]
		at := make(map[[2]string]*RunLog, len(some))
		var of []string
		for i := range some {
			at[[2]string{some[i].Job, some[i].Occurrence}] = &some[i]
			of = append(of, "job = "+text(some[i].Job)+" AND occurrence = "+text(some[i].Occurrence))
		}
		rows, err := db.QueryContext(ctx, j.tables.Fill("steps/run_steps", "{runs}", strings.Join(of, " OR "), "{output}", said))
		if err != nil {
			return fmt.Errorf("reading calls of steps: %w", err)
		}
		if err := scanSteps(rows, at); err != nil {
			return fmt.Errorf("reading calls of steps: %w", err)
		}
	}
	return nil
}

func scanSteps(rows *sql.Rows, at map[[2]string]*RunLog) error {
	defer rows.Close()
	for rows.Next() {
		var s StepLog
		var run [2]string
		var scheduled, started, ended, agent, result, reason, said sql.NullString
		if err := rows.Scan(&run[0], &run[1], &s.Seq, &s.Position, &s.Step, &s.JobExec, &s.Attempt, &scheduled, &started, &ended, &agent, &result,
			&reason, &said, &s.OutputCut); err != nil {
			return err
		}
		var errs [6]error
		s.ScheduledAt, errs[0] = store.ParseTime(scheduled.String)
		s.StartedAt, errs[1] = store.ParseTime(started.String)
		s.EndedAt, errs[2] = timeOf(ended)
		s.Agent, errs[3] = unhex(agent)
		s.Error, errs[4] = unhex(reason)
		s.Output, errs[5] = unhex(said)
		s.Result = result.String
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		if of := at[run]; of != nil {
			if s.EndedAt == nil && of.Phase == Ended { // nobody had it when the run ended
				s.EndedAt, s.Result = of.EndedAt, of.Result
			}
			of.Steps = append(of.Steps, s)
		}
	}
	return rows.Err()
}
