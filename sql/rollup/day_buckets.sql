-- Write the histograms of a day, which are sums of those of its hours.
-- Index: PRIMARY of stats_bucket, a range. Locks: the rows of the day; what is read is not locked.
-- 1: the day, 2: from, 3: before
INSERT INTO {prefix}stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n)
SELECT 'day', ?, job_exec, entity_name, measure, bucket, SUM(n)
FROM {prefix}stats_bucket hours FORCE INDEX (PRIMARY) WHERE hours.grain = 'hour' AND hours.start >= ? AND hours.start < ?
GROUP BY job_exec, entity_name, measure, bucket
