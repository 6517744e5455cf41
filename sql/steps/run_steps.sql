-- The calls of the steps of runs.
-- Index: PRIMARY of step_run_log, a range each. Locks: none.
-- {runs}: conditions on job and occurrence, {output}: output or NULL
SELECT job, occurrence, seq, position, step, job_exec, attempt, CAST(scheduled_at AS CHAR), CAST(started_at AS CHAR),
  CAST(ended_at AS CHAR), HEX(agent), result, HEX(error), HEX({output}), output_cut
FROM {prefix}step_run_log FORCE INDEX (PRIMARY)
WHERE {runs} OR 1 = 0 ORDER BY job, occurrence, seq
