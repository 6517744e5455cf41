-- End runs that an agent has found free, and whose checks are gone, or are not called any more.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows.
-- {runs}: conditions on job_key, token and agent, as they were seen
-- 1: outcome
UPDATE {prefix}long_run FORCE INDEX (PRIMARY)
SET takeovers = takeovers + IF(agent = '' OR started_at IS NULL, 0, 1), agent = '',
  allocated_until = NULL, ended_at = UTC_TIMESTAMP(6), outcome = ?
WHERE ({runs} OR 1 = 0) AND ended_at IS NULL AND allocated_until IS NOT NULL AND {free allocated_until}
