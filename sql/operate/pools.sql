-- The pools of long runs that some agent is to serve: of runs that have not ended, and of schedules, among the first ones.
-- Index: ended_at of long_run, PRIMARY of schedule. Locks: none.
-- 1: how many runs are looked at, 2: how many schedules
SELECT pool FROM (SELECT pool FROM {prefix}long_run WHERE ended_at IS NULL LIMIT ?) under_way WHERE pool <> ''
UNION
SELECT pool FROM (SELECT pool, enabled, is_long FROM {prefix}schedule ORDER BY id LIMIT ?) few WHERE pool <> '' AND enabled AND is_long
