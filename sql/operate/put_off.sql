-- Which job_execs have rows that were moved on without a call, in a page of what is pending, and why? The beginning of a reason tells
-- which it is.
-- Index: PRIMARY of future_job, ranges that are the page. Locks: none.
-- {slot}, {key}: behind which, {until}: AND … where the page ends
SELECT job.job_exec, COUNT(*) AS jobs, MIN(job.due_at) AS since, MAX(job.put_off_count) AS times,
  COALESCE(MAX(job.last_error), '') AS reason
FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE (job.next_check_at > {slot} OR job.next_check_at = {slot} AND job.job_key > {key}) {until} AND job.put_off_count > 0
GROUP BY job.job_exec, LEFT(job.last_error, 12)
