-- Pause a job_exec, or all of them. One that is paused already keeps its time.
-- Index: PRIMARY of job_pause. Locks: one record.
-- {job_exec}, {paused_by}, {reason}
INSERT INTO {prefix}job_pause (job_exec, paused_by, reason) VALUES ({job_exec}, {paused_by}, {reason})
ON DUPLICATE KEY UPDATE paused_by = {paused_by}, reason = {reason}
