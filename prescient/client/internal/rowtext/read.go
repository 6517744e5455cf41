package rowtext

import (
	"prescient/prescient"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Columns reads a row of future_job as text that no setting of the connection changes; BareColumns leaves out what may be
// long.
const (
	Columns     = beforeLong + `HEX(job.last_error), ` + totalMS + `, HEX(CAST(job.payload AS CHAR CHARACTER SET utf8mb4)), ` + afterLong + `, job.trace, job.rule_version, ` + occasionAt
	BareColumns = beforeLong + `NULL, ` + totalMS + `, NULL, ` + afterLong + `, NULL, NULL, NULL`

	// A date that is none, which plain SQL may have written, is NULL.
	occasionAt = `CAST(job.occasion_at + INTERVAL 0 DAY AS CHAR)`
	// What somebody wrote by hand may be more than a program counts to.
	totalMS    = `LEAST(job.total_ms, 9000000000000000000)`
	beforeLong = `job.entity_name, HEX(job.entity_key), job.job_exec, HEX(job.tag), CAST(job.due_at AS CHAR),
  CAST(job.first_check_at AS CHAR), CAST(job.next_check_at AS CHAR), job.check_count, job.error_count, job.put_off_count,
  `
	afterLong = `job.revision, CAST(job.inserted_at AS CHAR), CAST(job.expires_at AS CHAR)`
)

// OneRow is Columns for client/pending in a dialect: in plain each is an aggregate of the one row that there is, or of none.
func OneRow(dialect text.Dialect) string {
	if dialect != text.Plain {
		return Columns
	}
	return `MAX(job.entity_name), MAX(HEX(job.entity_key)), MAX(job.job_exec), MAX(HEX(job.tag)), MAX(CAST(job.due_at AS CHAR)),
  MAX(CAST(job.first_check_at AS CHAR)), MAX(CAST(job.next_check_at AS CHAR)), MAX(job.check_count), MAX(job.error_count), MAX(job.put_off_count),
  MAX(HEX(job.last_error)), MAX(` + totalMS + `), MAX(HEX(CAST(job.payload AS CHAR CHARACTER SET utf8mb4))),
  MAX(job.revision), MAX(CAST(job.inserted_at AS CHAR)), MAX(CAST(job.expires_at AS CHAR)), MAX(job.trace), MAX(job.rule_version), MAX(` + occasionAt + `)`
}

// Into is where a row goes that Columns reads; nothing is set where an outer join found none.
func Into(job *prescient.FutureJob) []any {
	return []any{store.OrZero(&job.EntityName), store.Unhex(&job.EntityKey), store.OrZero(&job.JobExec), store.Unhex(&job.Tag), store.At(&job.DueAt), store.At(&job.FirstCheckAt),
		store.At(&job.NextCheckAt), store.OrZero(&job.CheckCount), store.OrZero(&job.ErrorCount), store.OrZero(&job.PutOffCount), store.Unhex(&job.LastError),
		store.OrZero(&job.TotalMS), store.Unhex(&job.Payload), store.OrZero(&job.Revision), store.At(&job.InsertedAt), store.AtOrNil(&job.ExpiresAt), store.Trace(&job.Trace), store.OrZero(&job.RuleVersion), store.AtOrNil(&job.OccasionAt)}
}
