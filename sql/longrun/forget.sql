-- Forget runs that ended, before the next of their schedules start, and those whose checks are gone.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows, held already.
-- {keys}: job_keys as hexadecimal literals
DELETE FROM {prefix}long_run WHERE job_key IN ({keys}) OR 1 = 0
