-- Delete old sums of hours or days.
-- Index: PRIMARY of the table, a range. Locks: the rows.
-- {table}: stats, stats_bucket or stats_reason; {grain}: hour or day
-- 1: before, 2: limit
DELETE FROM {prefix}{table} WHERE grain = '{grain}' AND start < ? ORDER BY start LIMIT ?
