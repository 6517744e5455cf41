-- Write the reasons of a day, which are sums of those of its hours.
-- Index: PRIMARY of stats_reason, a range. Locks: the rows of the day; what is read is not locked.
-- 1: the day, 2: from, 3: before
INSERT INTO {prefix}stats_reason (grain, start, job_exec, reason, ends)
SELECT 'day', ?, job_exec, reason, SUM(ends)
FROM {prefix}stats_reason hours FORCE INDEX (PRIMARY) WHERE hours.grain = 'hour' AND hours.start >= ? AND hours.start < ?
GROUP BY job_exec, reason
