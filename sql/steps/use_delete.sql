-- Forget which shared steps a job has. They are named: where there are none, an app would lock a gap.
-- Index: PRIMARY of job_step, one entry each. Locks: the rows.
-- {job}: whose, {steps}: a list
DELETE FROM {prefix}job_step WHERE step IN ({steps}) AND job = {job}
  AND place IN ({places}) -- only vitess
