-- How times and counts were spread, by job_exec and kind of entity, on some days.
-- Index: PRIMARY of stats_bucket, a range for each day. Locks: none.
-- {days}: literals, {but}: a condition on the job_exec, or nothing, 1: limit
SELECT start, job_exec, measure, bucket, n
FROM {prefix}stats_bucket FORCE INDEX (PRIMARY) WHERE grain = 'day' AND start IN ({days}) {but}
ORDER BY start, job_exec, entity_name, measure, bucket -- only vitess
LIMIT ?
