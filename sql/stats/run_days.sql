-- How long calls took, by day, the latest first: histograms of the run times of ends.
-- Index: PRIMARY of stats_bucket, a range, backwards. Locks: none.
-- 1: from, 2: before, 3: limit
SELECT start, job_exec, '' AS job, '' AS step, bucket, n
FROM {prefix}stats_bucket FORCE INDEX (PRIMARY) WHERE grain = 'day' AND start >= ? AND start < ? AND measure = 'run'
ORDER BY grain DESC, start DESC, job_exec DESC, entity_name DESC, measure DESC, bucket DESC LIMIT ?
