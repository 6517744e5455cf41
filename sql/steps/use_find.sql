-- Which jobs have a shared step. {lock} is empty, or LOCK IN SHARE MODE where that is to stay so.
-- Index: PRIMARY of job_step, a range. Locks: none, or that range.
-- {step}: which
SELECT job FROM {prefix}job_step FORCE INDEX (PRIMARY) WHERE step = {step} ORDER BY job {lock}
