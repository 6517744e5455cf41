-- Delete rows that ended and do not follow one another: one look-up a row, whatever the optimizer thinks of scanning the slot,
-- so that it never waits for other rows of the slot, which somebody else may have locked. The count must be theirs, or the
-- commit is rolled back.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows, held already.
-- 1: JSON array of the job_keys in hexadecimal, 2: slot
DELETE job FROM JSON_TABLE(?, '$[*]' COLUMNS (job_key CHAR(32) PATH '$')) ended
  STRAIGHT_JOIN {prefix}future_job job FORCE INDEX (PRIMARY)
  ON job.next_check_at = ? AND job.job_key = UNHEX(ended.job_key)
