package steps

import (
	"context"
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
	runs, err := j.readRuns(ctx, db, query)
	if err == nil && f.Steps {
		err = j.addSteps(ctx, db, runs, f.Output)
	}
	return runs, err
}

// LastRuns returns the run of each of some jobs that was due latest, in no order, by one statement.
func (j *Jobs) LastRuns(ctx context.Context, db prescient.DB, names ...string) ([]RunLog, error) {
	if len(names) == 0 {
		return nil, nil
	}
	for _, name := range names {
		if err := validName("name of a job", name); err != nil {
			return nil, err
		}
	}
	return j.readRuns(ctx, db, j.tables.Fill("steps/last_runs", "{names}", literal.List(literal.AppendText, names)))
}

func (j *Jobs) readRuns(ctx context.Context, db prescient.DB, query string) ([]RunLog, error) {
	rows, err := store.Rows(ctx, db, "reading runs of jobs", query, (*runRow).into)
	if err != nil {
		return nil, err
	}
	var runs []RunLog
	for _, row := range rows {
		row.Phase = row.phase()
		runs = append(runs, row.RunLog)
	}
	return runs, j.endUnseen(ctx, db, runs)
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
		if f.Occurrence == "" { // those of all jobs are few, those of one that have ended may be millions
			index, order = "ended_at", "log.scheduled_at DESC"
		}
	}
	return j.tables.Fill("steps/runs", "{index}", index, "{filter}", strings.Join(where, " AND "), "{order}", order,
		"{limit}", literal.Of(literal.AppendInt, int64(f.Limit))), nil
}

// runRow is a row of steps/runs.
type runRow struct {
	RunLog
	under, allocated, lives bool   // it waits or an agent has it; its long run has a lease, or one that is not over
	agent                   string // that has it
}

// into is where the columns of a row go.
func (r *runRow) into() []any {
	return []any{&r.Job, &r.Occurrence, store.UnhexInto(r.key[:]), store.OrZero(&r.Version), store.At(&r.ScheduledAt), store.AtOrNil(&r.StartedAt), store.AtOrNil(&r.EndedAt),
		store.Unhex(&r.Agent), &r.Takeovers, store.OrZero(&r.Result), store.Unhex(&r.Error), &r.under, store.Unhex(&r.agent), &r.allocated, &r.lives}
}

func (r *runRow) phase() Phase {
	switch {
	case r.EndedAt != nil:
		return Ended
	case !r.under:
		return longrun.Lapsed // until history says how it ended
	case r.lives:
		return longrun.Running
	case r.allocated && r.agent != "":
		return longrun.Lapsed
	case r.allocated:
		return longrun.HandedOn
	}
	return longrun.Retried
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
	ends, err := store.Rows(ctx, db, "reading how runs ended", j.tables.Fill("steps/ends", "{keys}", literal.KeysOf(keys)), func(row *RunLog) []any {
		return []any{store.UnhexInto(row.key[:]), &row.Result, store.AtOrNil(&row.EndedAt), store.Unhex(&row.Error)}
	})
	if errno.Denied(err) {
		return nil
	}
	for _, end := range ends {
		run := &runs[at[end.key]]
		run.Phase, run.Result, run.EndedAt = Ended, end.Result, end.EndedAt
		if end.Error != "" {
			run.Error = end.Error
		}
	}
	return err
}

// addSteps reads the calls of the steps of runs.
func (j *Jobs) addSteps(ctx context.Context, db prescient.DB, runs []RunLog, withOutput bool) error {
	atOnce := 200
	if j.tables.Server.Placed() {
		atOnce = 50 // of jobs of the most steps
	}
	for len(runs) > 0 {
		var at map[[2]string]*RunLog
		var rows []stepRow
		asked, err := store.Answered(min(atOnce, len(runs)), func(n, longest int) (err error) {
			at = make(map[[2]string]*RunLog, n)
			var of []string
			for i := range runs[:n] {
				at[[2]string{runs[i].Job, runs[i].Occurrence}] = &runs[i]
				of = append(of, "job = "+text(runs[i].Job)+" AND occurrence = "+text(runs[i].Occurrence))
			}
			said := "NULL"
			if withOutput && longest > 0 {
				said = "output"
			}
			query := j.tables.Fill("steps/run_steps", "{runs}", strings.Join(of, " OR "), "{output}", said)
			rows, err = store.Rows(ctx, db, "reading calls of steps", query, (*stepRow).into)
			return err
		})
		if err != nil {
			return err
		}
		runs = runs[asked:]
		for _, row := range rows {
			run := at[row.run]
			if run == nil {
				continue
			}
			if row.EndedAt == nil && run.Phase == Ended { // nobody had it when the run ended
				row.EndedAt, row.Result = run.EndedAt, run.Result
			}
			run.Steps = append(run.Steps, row.StepLog)
		}
	}
	return nil
}

// stepRow is a row of steps/run_steps.
type stepRow struct {
	StepLog
	run [2]string // its job and its occurrence
}

// into is where the columns of a row go.
func (s *stepRow) into() []any {
	return []any{&s.run[0], &s.run[1], &s.Seq, &s.Position, &s.Step, &s.JobExec, &s.Attempt, store.At(&s.ScheduledAt), store.At(&s.StartedAt), store.AtOrNil(&s.EndedAt),
		store.Unhex(&s.Agent), store.OrZero(&s.Result), store.Unhex(&s.Error), store.Unhex(&s.Output), &s.OutputCut}
}
