-- The job_execs that workers have told of, a page at a time: in each form and with all guards that there were since the last prune.
-- Index: PRIMARY of exec_known, from the cursor on. Locks: none.
-- {bounds}: conditions, {limit}: how many, 1: for how long what was told is so, in seconds
SELECT job_exec, HEX(fingerprint), form, guards, worker, first_at, seen_at,
  seen_at > UTC_TIMESTAMP(6) - INTERVAL ? SECOND
FROM {prefix}exec_known FORCE INDEX (PRIMARY) WHERE {bounds} ORDER BY job_exec, fingerprint LIMIT {limit}
