-- Which rows of a slot has nobody locked in an index?
-- Index: the one that is asked for, PRIMARY or UNIQUE (job_key), one entry a row. Locks: the entries, for a moment; those that somebody
-- else has locked are left out.
-- {index}: which one, {keys}: job_keys as hexadecimal literals, {lock}: how they are locked, with what leaves out those of others
-- 1: slot
SELECT job_key FROM {prefix}future_job FORCE INDEX ({index}) WHERE next_check_at = ? AND (job_key IN ({keys}) OR 1 = 0) {lock}
