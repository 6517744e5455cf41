-- Pending checks of some rules in a page: they go by what the rule said.
-- Index: PRIMARY of future_job, ranges that are the page: with next_check_at >= … MySQL reads a slot from its begin. Locks: none.
-- {slot}, {key}: behind which, {until}: empty, or AND … where the page ends, {tags}: of the rules
SELECT job.tag FROM {prefix}future_job job FORCE INDEX (PRIMARY)
WHERE (job.next_check_at > {slot} OR job.next_check_at = {slot} AND job.job_key > {key}) {until} AND job.tag IN ({tags})
