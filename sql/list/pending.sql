-- Pending rows in the order in which they come due, a page at a time. The page is found by its keys alone: to sort rows
-- with payloads of megabytes takes more memory than MySQL gives.
-- Index: PRIMARY of future_job from the cursor on, or UNIQUE (job_key) where an entity is given; then PRIMARY, one entry
-- a row. Locks: none.
-- {index}: that of the entity, or nothing, {filter}: conditions, {payload}: the payload, or nothing in its place, 1: limit
SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.first_check_at, job.next_check_at,
       job.check_count, job.error_count, job.put_off_count, COALESCE(job.last_error, '') AS last_error,
       LEAST(job.total_ms, 9000000000000000000) AS total_ms,
       {payload} AS payload, job.revision, job.inserted_at, job.expires_at
FROM (SELECT next_check_at, job_key FROM {prefix}future_job {index}
      WHERE {filter} ORDER BY next_check_at, job_key LIMIT ?) page
  STRAIGHT_JOIN {prefix}future_job job ON job.next_check_at = page.next_check_at AND job.job_key = page.job_key
ORDER BY page.next_check_at, page.job_key
