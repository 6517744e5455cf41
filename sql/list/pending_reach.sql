-- How far do so many pending rows reach, from the next one due or from a cursor on?
-- Index: PRIMARY of future_job, so many entries, or job_key, all of an entity. Locks: none.
-- {bounds}: conditions, {index}: the name of the index, 1: rows to pass over
SELECT next_check_at, job_key FROM {prefix}future_job FORCE INDEX ({index})
WHERE {bounds} ORDER BY next_check_at, job_key LIMIT 1 OFFSET ?
