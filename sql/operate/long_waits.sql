-- Checks that wait for a place of an agent: long runs that are due since long, and were neither called nor put off, among the rows of the
-- next slots. Those of a job_exec that is paused wait for that. A check that was called may have asked for a time that was over already,
-- as after an outage, and a long run that was called has its row in long_run.
-- Index: PRIMARY of future_job, at most the first limit's entries; PRIMARY of long_run and of job_pause, one and two entries each.
-- Locks: none.
-- 1: first slot, 2: last slot, 3: how many rows are looked at, 4: due before, 5: inserted before, 6: all job_execs, 7: limit
SELECT CONCAT(few.entity_name, '/', few.entity_key) AS id, 'waiting' AS kind, few.job_exec AS job_exec, '' AS pool, '' AS agent,
  0 AS takeovers, '' AS reason
FROM (SELECT entity_name, entity_key, job_exec, job_key, due_at, inserted_at, check_count, error_count, put_off_count
      FROM {prefix}future_job FORCE INDEX (PRIMARY)
      WHERE next_check_at > ? AND next_check_at <= ? ORDER BY next_check_at, job_key LIMIT ?) few
  LEFT JOIN {prefix}long_run run FORCE INDEX (PRIMARY) ON run.job_key = few.job_key AND run.ended_at IS NULL
WHERE few.due_at < ? AND few.inserted_at < ? AND few.check_count + few.error_count + few.put_off_count = 0
  AND few.job_exec <> 'schedule.fire'
  AND run.job_key IS NULL
  AND NOT EXISTS (SELECT 1 FROM {prefix}job_pause pause WHERE pause.job_exec IN (few.job_exec, ?)) LIMIT ?
