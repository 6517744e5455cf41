-- Note which shared steps a job has.
-- Index: PRIMARY of job_step, the new entries. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}job_step (step, job) VALUES {rows}
