-- How many long runs the agents have in hand, by agent, among the first ones that have not ended.
-- Index: ended_at of long_run. Locks: none.
-- 1: how many runs are looked at
SELECT agent, COUNT(*) AS runs
FROM (SELECT agent, allocated_until FROM {prefix}long_run WHERE ended_at IS NULL LIMIT ?) under_way
WHERE agent <> '' AND allocated_until IS NOT NULL
GROUP BY agent
