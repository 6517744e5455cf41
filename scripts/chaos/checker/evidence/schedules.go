package evidence

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// ScheduleEntity is the entity_name of the timers and runs of schedules.
const ScheduleEntity = "schedule"

// OutsiderPrefix begins the entity_name of checks, and the id of schedules and events, that the journal does not know: of them only the ends
// count, in the books.
const OutsiderPrefix = "outsider"

// Schedules is what the tables hold of schedules at the end.
type Schedules struct {
	Rows   []ScheduleRow
	Jobs   []ScheduleJob
	Outbox []OutboxRow
}

// ScheduleRow is a row of schedule.
type ScheduleRow struct {
	ID         string
	Version    uint64
	Enabled    bool
	PassedOver int
}

// ScheduleJob is a timer or a run of a schedule: a row of job_history, or of future_job, which has no Outcome.
type ScheduleJob struct {
	Ended
	Schedule   string
	Exec       string
	Tag        string
	InsertedAt time.Time
}

// OutboxRow is a row of event_outbox. They are in the order of its seq.
type OutboxRow struct {
	ID         string
	Key        string
	Due        time.Time // generated_at
	InsertedAt time.Time
	Payload    string
}

const (
	scheduleRows = "SELECT id, version, enabled <> 0, COALESCE(passed_over, 0) FROM {prefix}schedule"
	// The slot of a row that is pending is that which it waits for. What it has not is '' of a column: TiDB puts no text of another collation below it.
	scheduleJobs = `SELECT entity_key, job_exec, tag, due_at, inserted_at, LEFT(job_exec, 0) AS outcome, check_count, error_count, next_check_at, LEFT(entity_key, 0) AS worker, revision, next_check_at
		FROM {prefix}future_job WHERE entity_name = '` + ScheduleEntity + `'
		UNION ALL SELECT entity_key, job_exec, tag, due_at, inserted_at, outcome, check_count, error_count, slot, worker, revision, ended_at
		FROM {prefix}job_history WHERE entity_name = '` + ScheduleEntity + "'"
	outboxRows = "SELECT id, event_key, generated_at, inserted_at, COALESCE(payload, '') FROM {prefix}event_outbox ORDER BY seq"
)

// readSchedules reads what the tables with a prefix hold of schedules; what has ended of those of jobs and outsiders by itself.
func readSchedules(ctx context.Context, db *sql.DB, prefix string) (s Schedules, others []ScheduleJob, err error) {
	for query, scan := range map[string]func(*sql.Rows) error{
		scheduleRows: func(rows *sql.Rows) error {
			var r ScheduleRow
			err := rows.Scan(&r.ID, &r.Version, &r.Enabled, &r.PassedOver)
			if !strings.HasPrefix(r.ID, JobPrefix) && !strings.HasPrefix(r.ID, OutsiderPrefix) {
				s.Rows = append(s.Rows, r)
			}
			return err
		},
		scheduleJobs: func(rows *sql.Rows) error {
			var j ScheduleJob
			err := rows.Scan(&j.Schedule, &j.Exec, &j.Tag, &j.Due, &j.InsertedAt, &j.Outcome, &j.Checks, &j.Errors, &j.Slot, &j.Worker, &j.Revision, &j.At)
			switch other := strings.HasPrefix(j.Schedule, JobPrefix) || strings.HasPrefix(j.Schedule, OutsiderPrefix); {
			case !other:
				s.Jobs = append(s.Jobs, j)
			case j.Outcome != "":
				others = append(others, j)
			}
			return err
		},
		outboxRows: func(rows *sql.Rows) error {
			var r OutboxRow
			err := rows.Scan(&r.ID, &r.Key, &r.Due, &r.InsertedAt, &r.Payload)
			if !strings.HasPrefix(r.Key, OutsiderPrefix) {
				s.Outbox = append(s.Outbox, r)
			}
			return err
		},
	} {
		if err := each(ctx, db, strings.ReplaceAll(query, "{prefix}", prefix), scan); err != nil {
			return s, nil, err
		}
	}
	return s, others, nil
}
