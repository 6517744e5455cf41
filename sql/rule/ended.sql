-- How the checks of a rule ended in a stretch of time, of those that were made in another.
-- Index: PRIMARY of job_history, a range. Locks: none.
-- {from}, {to}: of their ends, {since}, {until}: when they were inserted, {tag}: of the rule, 1: limit
SELECT job.entity_name, job.entity_key, job.inserted_at, job.ended_at, job.outcome
FROM {prefix}job_history job FORCE INDEX (PRIMARY)
WHERE job.ended_at >= {from} AND job.ended_at < {to} AND job.tag = {tag} AND job.inserted_at >= {since} AND job.inserted_at < {until}
ORDER BY job.ended_at, job.job_key, job.revision -- only vitess
LIMIT ?
