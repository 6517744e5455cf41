-- Claim a run, as it was seen: while nobody else has claimed or renewed it. No row: somebody has.
-- Index: PRIMARY of schedule_run, one entry. Locks: the row.
-- 1: agent, 2: token, 3: lease in microseconds, 4: job_key, 5: token as seen, 6: agent as seen
UPDATE {prefix}schedule_run FORCE INDEX (PRIMARY)
SET agent = ?, token = ?, allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE job_key = ? AND token = ? AND agent = ? AND ended_at IS NULL AND allocated_until <= UTC_TIMESTAMP(6)
