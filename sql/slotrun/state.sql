-- Is anything due at this slot, what time is it by the database's clock, at which version is slot_config, and which
-- job_execs are paused?
-- Index: PRIMARY of future_job, one entry; PRIMARY of job_pause, all of the few. Locks: none.
-- 1: slot
SELECT UTC_TIMESTAMP(6),
       EXISTS (SELECT 1 FROM {prefix}future_job WHERE next_check_at = ?),
       (SELECT version FROM {prefix}slot_config WHERE id = 1),
       (SELECT JSON_ARRAYAGG(job_exec) FROM {prefix}job_pause)
