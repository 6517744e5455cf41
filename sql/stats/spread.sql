-- How times were spread, by job_exec, in some hours or days.
-- Index: PRIMARY of stats_bucket, a range. Locks: none.
-- 1: hour or day, 2: from, 3: before, 4: limit
SELECT SQL_BIG_RESULT job_exec, measure, bucket, SUM(n) FROM {prefix}stats_bucket FORCE INDEX (PRIMARY)
WHERE grain = ? AND start >= ? AND start < ? AND measure <> 'checks' GROUP BY job_exec, measure, bucket
ORDER BY job_exec, measure, bucket -- only vitess
LIMIT ?
