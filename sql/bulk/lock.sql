-- Lock pending rows that were listed, those that are still as they were read. What somebody else has locked is left out.
-- Index: PRIMARY of future_job and UNIQUE (job_key), in this order, one entry a row. Locks: the rows and these entries.
-- {columns}: those of a row; {index}: which; {rows}: the rows as they were read, by next_check_at, job_key and revision, or job_keys;
-- {lock}: FOR UPDATE, and that it does not wait
SELECT {columns} FROM {prefix}future_job job FORCE INDEX ({index})
WHERE {rows} {lock}
