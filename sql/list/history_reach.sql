-- How far do so many rows of history reach, from the latest or from a cursor on?
-- Without the hint a server may sort KEY (job_key) instead.
-- Index: PRIMARY of job_history, so many entries, or job_key, all of an entity. Locks: none.
-- {bounds}: conditions, {index}: the name of the index, 1: rows to pass over
SELECT ended_at, job_key, revision FROM {prefix}job_history FORCE INDEX ({index})
WHERE {bounds} ORDER BY ended_at DESC, job_key DESC, revision DESC LIMIT 1 OFFSET ?
