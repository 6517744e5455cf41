-- The first schedules, with what their timers wait for: a machine looks whether that is an occurrence by its own time zones.
-- Index: PRIMARY of schedule, at most the limit's entries; UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- 1: limit
SELECT some.id AS id, some.crontabs AS crontabs, some.zone AS zone, COALESCE(some.jitter, 0) AS jitter,
  some.created_at AS created_at, some.version AS version, job.due_at AS due_at
FROM (SELECT id, crontabs, zone, jitter, created_at, version FROM {prefix}schedule FORCE INDEX (PRIMARY) ORDER BY id LIMIT ?) some
  LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = CONCAT(
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), CAST(some.id AS BINARY)), 256)), 1, 12),
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule.fire', UNHEX('00')), 256)), 1, 4))
