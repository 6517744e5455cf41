-- Old bulk runs and previews, some of them. One that is under way is not old.
-- Index: KEY (ended_at, started_at) of bulk_run, a range; previews lie at its begin. Locks: none.
-- 1, 2: before; 3: how many
(SELECT number FROM {prefix}bulk_run WHERE ended_at < ? LIMIT 100)
UNION ALL (SELECT number FROM {prefix}bulk_run WHERE ended_at IS NULL AND started_at IS NULL AND cutoff < ? LIMIT 100) LIMIT ?
