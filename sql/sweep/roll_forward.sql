-- Move rows of a slot, which slotrun/lock_free.sql has locked, to a later slot. The count must be theirs, or the transaction is
-- rolled back. Without OR 1 = 0 MariaDB makes a subquery of a list of 1000.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows, held already; neighbours of theirs in UNIQUE (job_key).
-- {keys}: job_keys as hexadecimal literals
-- 1: the later slot, 2: slot
UPDATE {prefix}future_job FORCE INDEX (PRIMARY) SET next_check_at = ?, revision = IF(revision < 18446744073709551615, revision + 1, 0)
WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0)
