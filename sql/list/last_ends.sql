-- The latest ends of some entities, each found by its keys alone.
-- Index: that of list/last_end; then PRIMARY of job_history, one entry each. Locks: none.
-- {ends}: list/last_end of each, with UNION ALL between them, {payload}: nothing, as a text
-- +file list/parts/ended.sql
FROM ({ends}) page
  STRAIGHT_JOIN {prefix}job_history job
  ON job.ended_at = page.ended_at AND job.job_key = page.job_key AND job.revision = page.revision
