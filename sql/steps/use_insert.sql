-- Note which shared steps a job has; plain SQL may have noted that already.
-- Index: PRIMARY of job_step, the new entries. Locks: the new rows.
-- {rows}: (…), (…) in the order of the columns
INSERT IGNORE INTO {prefix}job_step (step, job
  , place -- only vitess
)
VALUES {rows}
