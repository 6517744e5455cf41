-- The job_execs that workers told of lately, with form and guards.
-- Index: seen_at of exec_known, a range, backwards, the limit's entries. Locks: none.
-- 1: since, 2: now, since others may have written times to come, 3: limit
SELECT job_exec, form, guards FROM {prefix}exec_known FORCE INDEX (seen_at) WHERE seen_at > ? AND seen_at <= ?
ORDER BY seen_at DESC LIMIT ?
