-- To which of some checks was a bulk run done already?
-- Index: PRIMARY of bulk_check, one entry each. Locks: none.
-- {keys}: job_keys as hexadecimal literals; 1: the number
SELECT job_key FROM {prefix}bulk_check FORCE INDEX (PRIMARY) WHERE number = ? AND (job_key IN ({keys}) OR 1 = 0)
