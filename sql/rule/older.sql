-- Pending checks of older versions of a rule in a page.
-- Index: PRIMARY of future_job, ranges that are the page: with next_check_at >= … MySQL reads a slot from its begin. Locks: none.
-- {slot}, {key}: behind which, {until}: empty, or AND … where the page ends, {tag}: of the rule, {before}: a version
SELECT job.next_check_at, job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.check_count, job.error_count,
  job.revision, job.inserted_at, job.expires_at, job.rule_version, job.occasion_at + INTERVAL 0 DAY AS occasion_at
FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE (job.next_check_at > {slot} OR job.next_check_at = {slot} AND job.job_key > {key}) {until}
  AND job.rule_version < {before} AND job.tag = {tag} ORDER BY job.next_check_at, job.job_key
