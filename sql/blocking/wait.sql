-- Wait for a row, to see who has it. While a session has a statement that is no text, as with a key as it is, MySQL shows nobody's waits.
-- Index: the one that is asked for, PRIMARY or UNIQUE (job_key), one entry. Locks: the entry, once it is free.
-- {index}: which one, {key}: job_key as a hexadecimal literal, {lock}: how it is locked
-- 1: slot
SELECT job_key FROM {prefix}future_job FORCE INDEX ({index}) WHERE next_check_at = ? AND job_key = {key} {lock}
