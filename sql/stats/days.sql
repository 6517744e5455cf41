-- What became of checks, by job_exec and kind of entity, on some days.
-- Index: PRIMARY of stats, a range for each day. Locks: none.
-- {days}: literals, {but}: a condition on the job_exec, or nothing, 1: limit
SELECT start, job_exec, outcome, ends, calls, errors, not_yet, waited
FROM {prefix}stats FORCE INDEX (PRIMARY) WHERE grain = 'day' AND start IN ({days}) {but}
ORDER BY start, job_exec, entity_name, outcome -- only vitess
LIMIT ?
