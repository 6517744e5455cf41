package rowtext

import (
	"prescient/prescient"
	"prescient/prescient/internal/literal"
	text "prescient/sql"
)

// Identity fills in the full primary key and the revision of a row as it was read.
func Identity(job prescient.FutureJob) []string {
	return []string{"{slot}", literal.Of(literal.AppendSecond, job.NextCheckAt), "{key}", literal.Of(literal.AppendKey, job.Key()),
		"{revision}", literal.Of(literal.AppendUint, job.Revision)}
}

// AsRead is a condition on rows of future_job: that they are still as they were read. In plain it names the keys of several rows beside them,
// by which Vitess knows their shards.
func AsRead(dialect text.Dialect, rows []prescient.FutureJob) string {
	asRead := func(b []byte, job prescient.FutureJob) []byte {
		b = literal.AppendSecond(append(b, "job.next_check_at = "...), job.NextCheckAt)
		b = literal.AppendKey(append(b, " AND job.job_key = "...), job.Key())
		return literal.AppendUint(append(b, " AND job.revision = "...), job.Revision)
	}
	condition := literal.Join(" OR ", asRead, rows)
	if dialect != text.Plain || len(rows) == 1 {
		return condition
	}
	keys := make([]prescient.Key, len(rows))
	for i, job := range rows {
		keys[i] = job.Key()
	}
	return "job.job_key IN (" + literal.KeysOf(keys) + ") AND (" + condition + ")"
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

// Between is InRanges with the first and the last key.
func Between(entities []prescient.Entity) string { return InRanges(entities, "BETWEEN ", " AND ") }

// Inside is InRanges without the first and the last key. In plain BETWEEN stands beside that: Vitess asks all shards without it.
func Inside(dialect text.Dialect, entities []prescient.Entity) string {
	inside := InRanges(entities, "> ", " AND job.job_key < ")
	if dialect == text.Plain {
		return "(" + Between(entities) + ") AND (" + inside + ")"
	}
	return inside
}
