-- Delete the two bookends of a look, in the transaction that inserted them.
-- Index: PRIMARY of future_job, two entries. Locks: the rows, held already.
-- {slot}, {first}, {last}: where they stand
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE job.next_check_at = {slot} AND (job.job_key = {first} OR job.job_key = {last})
