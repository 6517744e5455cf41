-- The first end that history has, and the first hour whose sums are in no day.
-- Index: PRIMARY of job_history, its first entry; day_at of stats_hour, one entry. Locks: none.
SELECT (SELECT ended_at FROM {prefix}job_history FORCE INDEX (PRIMARY) ORDER BY ended_at LIMIT 1) AS first_end,
  (SELECT start FROM {prefix}stats_hour FORCE INDEX (day_at) WHERE day_at IS NULL ORDER BY start LIMIT 1) AS undayed
