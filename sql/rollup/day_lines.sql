-- Write the lines of a day, which are sums of those of its hours.
-- Index: PRIMARY of stats, a range. Locks: the rows of the day; what is read is not locked.
-- 1: the day, 2: from, 3: before
INSERT INTO {prefix}stats (grain, start, job_exec, entity_name, outcome, ends, calls, errors, not_yet, waited, started, run_ms, total_ms,
  lateness_ms, due_lateness_ms)
SELECT 'day', ?, job_exec, entity_name, outcome, SUM(ends), SUM(calls), SUM(errors), SUM(not_yet), SUM(waited), SUM(started), SUM(run_ms),
  SUM(total_ms), SUM(lateness_ms), SUM(due_lateness_ms)
FROM {prefix}stats hours FORCE INDEX (PRIMARY) WHERE hours.grain = 'hour' AND hours.start >= ? AND hours.start < ?
GROUP BY job_exec, entity_name, outcome
