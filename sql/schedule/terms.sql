-- What schedules say of their long runs, and the database's clock once they are locked, so that nobody else starts one. Those that somebody
-- else has locked are left out.
-- Index: PRIMARY of schedule, one entry each. Locks: the rows.
-- {ids}: a list
SELECT id, crontabs, zone, jitter, may_coalesce <> 0, created_at, overlap, tolerance, quota, pool, last_started_at, UTC_TIMESTAMP(6)
FROM {prefix}schedule FORCE INDEX (PRIMARY)
WHERE (id IN ({ids}) OR 1 = 0) AND is_long <> 0 ORDER BY id FOR UPDATE SKIP LOCKED
