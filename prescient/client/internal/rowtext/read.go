package rowtext

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Columns reads a row of future_job as text that no setting of the connection changes; BareColumns leaves out what may be
// long.
const (
	Columns     = beforeLong + `HEX(job.last_error), ` + totalMS + `, HEX(CAST(job.payload AS CHAR CHARACTER SET utf8mb4)), ` + afterLong
	BareColumns = beforeLong + `NULL, ` + totalMS + `, NULL, ` + afterLong

	// What somebody wrote by hand may be more than a program counts to.
	totalMS    = `LEAST(job.total_ms, 9000000000000000000)`
	beforeLong = `job.entity_name, HEX(job.entity_key), job.job_exec, HEX(job.tag), CAST(job.due_at AS CHAR),
  CAST(job.first_check_at AS CHAR), CAST(job.next_check_at AS CHAR), job.check_count, job.error_count, job.put_off_count,
  `
	afterLong = `job.revision, CAST(job.inserted_at AS CHAR), CAST(job.expires_at AS CHAR)`
)

// Row is a row as Columns reads it; all NULL where an outer join found none.
type Row struct {
	name, key, exec, tag, due, first, next, lastError, payload, inserted, expires sql.NullString
	checks, errors, putOff, total                                                 sql.NullInt64
	revision                                                                      sql.Null[uint64]
}

// Targets are what a row is scanned into.
func (r *Row) Targets() []any {
	return []any{&r.name, &r.key, &r.exec, &r.tag, &r.due, &r.first, &r.next, &r.checks, &r.errors, &r.putOff,
		&r.lastError, &r.total, &r.payload, &r.revision, &r.inserted, &r.expires}
}

// Job returns nil where there was no row.
func (r *Row) Job() (*prescient.FutureJob, error) {
	if !r.name.Valid {
		return nil, nil
	}
	job := &prescient.FutureJob{
		EntityName: r.name.String, JobExec: r.exec.String,
		CheckCount: int(r.checks.Int64), ErrorCount: int(r.errors.Int64), PutOffCount: int(r.putOff.Int64),
		TotalMS: r.total.Int64, Revision: r.revision.V,
	}
	var errs []error
	text := func(s sql.NullString) string {
		plain, err := hex.DecodeString(s.String)
		errs = append(errs, err)
		return string(plain)
	}
	at := func(s sql.NullString) time.Time {
		t, err := store.ParseTime(s.String)
		errs = append(errs, err)
		return t
	}
	job.EntityKey, job.Tag, job.LastError = text(r.key), text(r.tag), text(r.lastError)
	if r.payload.Valid {
		job.Payload = json.RawMessage(text(r.payload))
	}
	job.DueAt, job.FirstCheckAt, job.NextCheckAt, job.InsertedAt = at(r.due), at(r.first), at(r.next), at(r.inserted)
	if r.expires.Valid {
		job.ExpiresAt = prescient.At(at(r.expires))
	}
	return job, errors.Join(errs...)
}
