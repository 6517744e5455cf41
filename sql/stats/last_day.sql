-- The latest day that was summed up.
-- Index: PRIMARY of stats, one entry. Locks: none.
SELECT start FROM {prefix}stats FORCE INDEX (PRIMARY) WHERE grain = 'day' ORDER BY start DESC LIMIT 1
