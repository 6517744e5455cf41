-- Note to which checks a step was done. Some may be noted from an earlier pass.
-- Index: PRIMARY and KEY (job_key) of bulk_check, one entry each. Locks: the rows.
-- {rows}: number and job_key of each
INSERT IGNORE INTO {prefix}bulk_check (number, job_key) VALUES {rows}
