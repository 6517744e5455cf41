-- What the books by job_exec have of calls in some time, the latest lines first, without long runs: these outlive their slots.
-- Index: PRIMARY of exec_run, a range, backwards, the limit's entries. Locks: none.
-- 1: from (inclusive), 2: before, 3: limit
SELECT job_exec, calls, moved, run_ms FROM {prefix}exec_run FORCE INDEX (PRIMARY) WHERE slot >= ? AND slot < ? AND bucket < 65535
ORDER BY slot DESC, bucket DESC, job_exec DESC, entity_name DESC LIMIT ?
