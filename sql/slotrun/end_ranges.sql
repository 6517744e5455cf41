-- Delete rows that ended and follow one another in the table, but for the last of each range, which end.sql deletes: the
-- scan stops at that one, which this transaction has locked, and never looks at the row of a neighbour. The count must be
-- theirs, or the commit is rolled back: a row may have come between them since they were locked.
-- Index: PRIMARY of future_job, a range or a few. Locks: the rows, held already.
-- {ranges}: job_key >= X'…' AND job_key < X'…' OR …
-- 1: slot
DELETE job FROM ({prefix}future_job job FORCE INDEX (PRIMARY)) -- only full
DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY) -- only plain
WHERE job.next_check_at = ? AND ({ranges})
