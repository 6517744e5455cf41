-- Claim runs, each as it was seen: while nobody else has claimed or renewed it. Those that it does not hit somebody has.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows.
-- {runs}: conditions on job_key, token and agent, as they were seen
-- 1: agent, 2: by how much the tokens rise, 3: lease in microseconds
UPDATE {prefix}long_run FORCE INDEX (PRIMARY)
SET agent = ?, token = token + ?, allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE ({runs} OR 1 = 0) AND ended_at IS NULL AND allocated_until IS NOT NULL AND {free allocated_until}
