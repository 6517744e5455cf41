-- What the books by job_exec have of calls in some time, the latest lines first, those of long runs among them: these outlive their
-- slots. They are told from the others behind the limit, which bounds what is read.
-- Index: PRIMARY of exec_run, a range, backwards, the limit's entries. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT job_exec, bucket = 65535 AS is_long, calls, moved, run_ms FROM {prefix}exec_run FORCE INDEX (PRIMARY)
WHERE slot >= ? AND slot < ?
ORDER BY slot DESC, bucket DESC, job_exec DESC, entity_name DESC LIMIT ?
