-- What time is it by the database's clock, since when is the resolution what it is, and since when is everything paused?
-- Index: PRIMARY of slot_config and of job_pause, one entry each. Locks: none.
SELECT UTC_TIMESTAMP(6) AS read_at, changed_at, (SELECT since FROM {prefix}job_pause WHERE job_exec = '*') AS paused_since
FROM {prefix}slot_config WHERE id = 1
