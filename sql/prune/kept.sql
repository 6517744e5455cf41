-- What is there of the ledger and of history next to a time: the latest slot and the latest end before it, and the first of
-- each from it on, up to now.
-- Index: PRIMARY of slot_run, an entry each; PRIMARY of job_history, an entry of each partition each. Locks: none.
-- 1: time, 2: time, 3: time, 4: now, 5: time, 6: now
SELECT (SELECT slot FROM {prefix}slot_run FORCE INDEX (PRIMARY) WHERE slot < ? ORDER BY slot DESC LIMIT 1),
       (SELECT ended_at FROM {prefix}job_history FORCE INDEX (PRIMARY) WHERE ended_at < ? ORDER BY ended_at DESC LIMIT 1),
       (SELECT slot FROM {prefix}slot_run FORCE INDEX (PRIMARY) WHERE slot >= ? AND slot <= ? ORDER BY slot LIMIT 1),
       (SELECT ended_at FROM {prefix}job_history FORCE INDEX (PRIMARY) WHERE ended_at >= ? AND ended_at <= ? ORDER BY ended_at LIMIT 1)
