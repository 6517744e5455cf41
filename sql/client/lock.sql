-- Lock a pending check that stays, if it is still the row that was read.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
-- {slot}, {key}, {revision}: the row as it was read
SELECT revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision} FOR UPDATE
