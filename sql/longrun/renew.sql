-- Keep runs for another term. Those that it does not hit are lost: one that has lapsed somebody may be taking over.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows.
-- {runs}: conditions on job_key and token
-- 1: lease in microseconds
UPDATE {prefix}long_run FORCE INDEX (PRIMARY) SET allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE ({runs} OR 1 = 0) AND {lives allocated_until}
