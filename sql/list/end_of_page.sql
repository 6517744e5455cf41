-- Where the next page of what is pending ends.
-- Index: PRIMARY of future_job, ranges that are the page: with next_check_at >= … MySQL reads a slot from its begin. Locks: none.
-- {slot}, {key}: behind which, {rows}: of a page, less one
SELECT next_check_at, job_key FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE (next_check_at > {slot} OR next_check_at = {slot} AND job_key > {key}) ORDER BY next_check_at, job_key LIMIT 1 OFFSET {rows}
