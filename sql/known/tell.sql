-- Tell that a worker has job_execs.
-- Index: PRIMARY of exec_known, one entry each. Locks: these.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}exec_known (job_exec, fingerprint, form, guards, worker, first_at, seen_at) VALUES {rows}
ON DUPLICATE KEY UPDATE worker = VALUES(worker), seen_at = VALUES(seen_at)
