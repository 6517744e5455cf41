-- The run of each of some jobs that was due latest, as steps/runs has it.
-- Index: PRIMARY of job_definition; job_scheduled_at of job_run_log, the last entry of each, and PRIMARY; the others as in steps/runs.
-- Locks: none.
-- {names}: the jobs
-- +file steps/parts/run.sql
FROM {prefix}job_definition named FORCE INDEX (PRIMARY)
STRAIGHT_JOIN {prefix}job_run_log log FORCE INDEX (PRIMARY)
  ON log.job = named.name AND log.occurrence = (SELECT last.occurrence FROM {prefix}job_run_log last FORCE INDEX (job_scheduled_at)
    WHERE last.job = named.name ORDER BY last.job DESC, last.scheduled_at DESC LIMIT 1)
LEFT JOIN {prefix}long_run run FORCE INDEX (PRIMARY) ON run.job_key = log.job_key
WHERE named.name IN ({names})
