-- The first schedules, with their timers: whether each that is enabled has one, whether that fails, and what it waits for, of which a
-- machine looks whether it is an occurrence by its own time zones.
-- Index: PRIMARY of schedule, at most the limit's entries; UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- 1: limit
SELECT few.id AS id, few.crontabs AS crontabs, few.zone AS zone, COALESCE(few.jitter, 0) AS jitter,
  few.created_at AS created_at, few.version AS version, few.enabled <> 0 AS enabled,
  job.due_at AS due_at, COALESCE(job.error_count, 0) AS error_count, COALESCE(job.last_error, '') AS last_error
FROM (SELECT id, crontabs, zone, jitter, created_at, version, enabled FROM {prefix}schedule FORCE INDEX (PRIMARY) ORDER BY id LIMIT ?) few
  LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = CONCAT(
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), CAST(few.id AS BINARY)), 256)), 1, 12),
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule.fire', UNHEX('00')), 256)), 1, 4))
