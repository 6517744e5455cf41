-- Ended rows, the latest first, a page at a time. The page is found by its keys alone: to sort rows with payloads of
-- megabytes takes more memory than MySQL gives.
-- Index: PRIMARY of job_history from the cursor on, or KEY (job_key) where an entity is given; then PRIMARY, one entry
-- a row. Locks: none.
-- {index}: that of the entity, or nothing, {filter}: conditions, {payload}: the payload, or nothing in its place, 1: limit
-- +file list/parts/ended.sql
FROM (SELECT ended_at, job_key, revision FROM {prefix}job_history {index}
      WHERE {filter} ORDER BY ended_at DESC, job_key DESC, revision DESC LIMIT ?) page
  STRAIGHT_JOIN {prefix}job_history job
  ON job.ended_at = page.ended_at AND job.job_key = page.job_key AND job.revision = page.revision
ORDER BY page.ended_at DESC, page.job_key DESC, page.revision DESC
