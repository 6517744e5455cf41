-- Delete the bookends of a look, in the transaction that inserted them.
-- Index: PRIMARY of future_job, one entry each. Locks: the rows, held already.
-- {slot}: where they stand, {keys}: job_keys as hexadecimal literals
DELETE job FROM ({prefix}future_job job FORCE INDEX (PRIMARY)) -- only full
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY) -- only plain
WHERE job.next_check_at = {slot} AND job.job_key IN ({keys})
