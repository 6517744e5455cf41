-- Move the checks of runs that are under way on to a later slot, unless that has begun.
-- Index: PRIMARY of future_job, one entry each. Locks: the rows, held already; on MariaDB also those after them in UNIQUE (job_key).
-- {checks}: SELECT … UNION ALL SELECT … with job_key, {slot}: the one that they wait for, {to}: the later one
UPDATE ({checks}) moved STRAIGHT_JOIN {prefix}future_job job FORCE INDEX (PRIMARY)
  ON job.next_check_at = {slot} AND job.job_key = moved.job_key
SET job.next_check_at = {to}, job.revision = IF(job.revision < 18446744073709551615, job.revision + 1, 0)
WHERE {to} > UTC_TIMESTAMP()
