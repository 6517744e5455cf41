-- Note of rows that they are due by another version of their rule, before reschedule.sql moves them, in its transaction.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows, held already.
-- {version}: of the rule, {keys}: job_keys as hexadecimal literals
-- 1: slot
UPDATE {prefix}future_job FORCE INDEX (PRIMARY) SET rule_version = {version} WHERE next_check_at = ? AND job_key IN ({keys})
