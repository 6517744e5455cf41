-- Bulk runs that took a check, the latest first.
-- Index: KEY (job_key) of bulk_check, and PRIMARY of bulk_run, one entry each. Locks: none.
-- {columns}: of a bulk run; 1: job_key; 2: how many
SELECT STRAIGHT_JOIN {columns} FROM {prefix}bulk_check FORCE INDEX (job_key) JOIN {prefix}bulk_run USING (number)
WHERE job_key = ? ORDER BY {prefix}bulk_check.number DESC LIMIT ?
