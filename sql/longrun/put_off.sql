-- Have nobody claim runs for a while that an agent has found free, and could not start.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows.
-- {runs}: conditions on job_key, token and agent, as they were seen
-- 1: for how many microseconds
UPDATE {prefix}long_run FORCE INDEX (PRIMARY)
SET takeovers = takeovers + IF(agent = '' OR started_at IS NULL, 0, 1), agent = '',
  allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE ({runs} OR 1 = 0) AND ended_at IS NULL AND allocated_until IS NOT NULL AND {free allocated_until}
