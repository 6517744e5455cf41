-- The job_execs that workers have in several ways now: of which two rows were told of lately, the later for as long.
-- Index: PRIMARY of exec_known, all of it: a row for each version of a job_exec that was seen since the last prune. Locks: none.
-- 1: seen since, 2: the later one there before, 3: limit
SELECT job_exec, COUNT(*) AS ways, MAX(first_at) AS since, GROUP_CONCAT(worker ORDER BY seen_at DESC SEPARATOR ', ') AS workers
FROM {prefix}exec_known FORCE INDEX (PRIMARY) WHERE seen_at > ?
GROUP BY job_exec HAVING COUNT(*) > 1 AND MAX(first_at) < ? ORDER BY job_exec LIMIT ?
