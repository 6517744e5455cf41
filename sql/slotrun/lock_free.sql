-- Lock rows that are to end or to move, by full primary key, and see which are still those that were read. Those that somebody
-- else has locked are left out.
-- Without OR 1 = 0 MariaDB makes a subquery of a list of 1000, and then may lock the whole slot.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows.
-- {keys}: job_keys as hexadecimal literals
-- 1: slot
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) FOR UPDATE SKIP LOCKED
