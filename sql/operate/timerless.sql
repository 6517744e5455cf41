-- Enabled schedules that have no timer, among the first ones.
-- Index: PRIMARY of schedule, at most the first limit's entries; UNIQUE (job_key) of future_job, one entry each. Locks: none.
-- 1: how many schedules are looked at, 2: limit
SELECT some.id AS id, '' AS reason
FROM (SELECT id, enabled FROM {prefix}schedule FORCE INDEX (PRIMARY) ORDER BY id LIMIT ?) some
  LEFT JOIN {prefix}future_job job FORCE INDEX (job_key) ON job.job_key = CONCAT(
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), CAST(some.id AS BINARY)), 256)), 1, 12),
    SUBSTRING(UNHEX(SHA2(CONCAT('schedule.fire', UNHEX('00')), 256)), 1, 4))
WHERE some.enabled = 1 AND job.job_key IS NULL LIMIT ?
