-- Which runs of checks and schedules there are, also where somebody else has them locked.
-- Index: PRIMARY of long_run, one range for each check or schedule. Locks: none.
-- {keys}: conditions on job_key
SELECT job_key, schedule_id FROM {prefix}long_run run FORCE INDEX (PRIMARY) WHERE {keys} OR 1 = 0
