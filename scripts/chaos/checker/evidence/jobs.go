package evidence

import (
	"context"
	"database/sql"
	"strings"
)

// QueueEntity is the entity_name of the check of a change queue, which never ends.
const QueueEntity = "changequeue"

// JobPrefix begins the schedules of jobs of steps.
const JobPrefix = "job/"

// Jobs is what the tables hold of jobs of steps.
type Jobs struct {
	Ends    []ScheduleJob // rows of job_history
	Runs    []JobRun
	Calls   []StepCall
	Effects []RunOf // one for each effect of a step
}

// RunOf names a run of a job.
type RunOf struct{ Job, Occurrence string }

// JobRun is a row of job_run_log.
type JobRun struct {
	RunOf
	Version uint64
	Result  string // empty while it goes on
	Ended   bool
}

// StepCall is a row of step_run_log.
type StepCall struct {
	RunOf
	Seq    int
	Step   string
	Result string // empty while it goes on
	Ended  bool
}

// Changes is what became of the changes that apps wrote, which a queue has handled.
type Changes struct {
	Written int
	// Skipped were never handled, Twice more than once, and Phantom were, though they had been rolled back.
	Skipped, Twice, Phantom int
}

// The tables that a run makes beside those of the installation: what steps have done, what apps have written, and what the queue has made of it.
const createJobs = `CREATE TABLE {prefix}step_effects (job VARCHAR(64) NOT NULL, occurrence VARCHAR(64) NOT NULL, n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY);
	CREATE TABLE {prefix}changes (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, payload VARBINARY(64));
	CREATE TABLE {prefix}handled (id BIGINT UNSIGNED NOT NULL, n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, KEY (id))`

// MakeJobs makes the tables for what steps and queues do.
func MakeJobs(ctx context.Context, db *sql.DB, prefix string) error {
	for statement := range strings.SplitSeq(strings.ReplaceAll(createJobs, "{prefix}", prefix), ";") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Unhandled is how many changes the queue has not handled yet.
func Unhandled(ctx context.Context, db *sql.DB, prefix string) (n int, err error) {
	err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+prefix+"changes WHERE id NOT IN (SELECT id FROM "+prefix+"handled)").Scan(&n)
	return n, err
}

func readChanges(ctx context.Context, db *sql.DB, prefix string) (c Changes, err error) {
	if c.Skipped, err = Unhandled(ctx, db, prefix); err != nil {
		return c, err
	}
	const rest = "SELECT (SELECT COUNT(*) FROM {prefix}changes), COUNT(*) - COUNT(DISTINCT id), COALESCE(SUM(id NOT IN (SELECT id FROM {prefix}changes)), 0) FROM {prefix}handled"
	return c, each(ctx, db, strings.ReplaceAll(rest, "{prefix}", prefix), func(rows *sql.Rows) error { return rows.Scan(&c.Written, &c.Twice, &c.Phantom) })
}

// readJobs reads what there is of jobs but their ends, which readSchedules finds.
func readJobs(ctx context.Context, db *sql.DB, prefix string, j *Jobs) error {
	for query, scan := range map[string]func(*sql.Rows) error{
		"SELECT job, occurrence, COALESCE(version, 0), COALESCE(result, ''), ended_at IS NOT NULL FROM {prefix}job_run_log": func(rows *sql.Rows) error {
			var r JobRun
			err := rows.Scan(&r.Job, &r.Occurrence, &r.Version, &r.Result, &r.Ended)
			j.Runs = append(j.Runs, r)
			return err
		},
		"SELECT job, occurrence, seq, step, COALESCE(result, ''), ended_at IS NOT NULL FROM {prefix}step_run_log ORDER BY job, occurrence, seq": func(rows *sql.Rows) error {
			var c StepCall
			err := rows.Scan(&c.Job, &c.Occurrence, &c.Seq, &c.Step, &c.Result, &c.Ended)
			j.Calls = append(j.Calls, c)
			return err
		},
		"SELECT job, occurrence FROM {prefix}step_effects": func(rows *sql.Rows) error {
			var r RunOf
			err := rows.Scan(&r.Job, &r.Occurrence)
			j.Effects = append(j.Effects, r)
			return err
		},
	} {
		if err := each(ctx, db, strings.ReplaceAll(query, "{prefix}", prefix), scan); err != nil {
			return err
		}
	}
	return nil
}
