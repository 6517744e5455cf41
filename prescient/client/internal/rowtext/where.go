package rowtext

import (
	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// Identity fills in the full primary key and the revision of a row as it was read.
func Identity(job prescient.FutureJob) []string {
	return []string{"{slot}", literal.Of(literal.AppendSecond, job.NextCheckAt), "{key}", literal.Of(literal.AppendKey, job.Key()),
		"{revision}", literal.Of(literal.AppendUint, job.Revision)}
}

// AsRead is a condition on rows of future_job: that they are still as they were read.
func AsRead(rows []prescient.FutureJob) string {
	asRead := func(b []byte, job prescient.FutureJob) []byte {
		b = literal.AppendSecond(append(b, "job.next_check_at = "...), job.NextCheckAt)
		b = literal.AppendKey(append(b, " AND job.job_key = "...), job.Key())
		return literal.AppendUint(append(b, " AND job.revision = "...), job.Revision)
	}
	return literal.Join(" OR ", asRead, rows)
}

// InRanges is a condition on job_key: that it is one that the entities can have, by the words before the first and the last.
func InRanges(entities []prescient.Entity, beforeFirst, beforeLast string) string {
	inRange := func(b []byte, e prescient.Entity) []byte {
		first, last := e.KeyRange()
		b = append(append(b, "job.job_key "...), beforeFirst...)
		b = append(literal.AppendKey(b, first), beforeLast...)
		return literal.AppendKey(b, last)
	}
	return literal.Join(" OR ", inRange, entities)
}
