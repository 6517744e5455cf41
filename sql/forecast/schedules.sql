-- The first schedules that are enabled, with what their timers wait for.
-- Index: PRIMARY of schedule, at most the limit's entries; UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- 1: limit
SELECT few.id AS id, few.crontabs AS crontabs, few.zone AS zone, COALESCE(few.jitter, 0) AS jitter, few.job_exec AS job_exec,
  few.created_at AS created_at, few.enabled <> 0 AS enabled, job.due_at AS due_at
FROM (SELECT id, crontabs, zone, jitter, job_exec, created_at, enabled FROM {prefix}schedule FORCE INDEX (PRIMARY) ORDER BY id LIMIT ?) few
  LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = CONCAT(
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), CAST(few.id AS BINARY)), 256)), 1, 12),
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule.fire', UNHEX('00')), 256)), 1, 4))
