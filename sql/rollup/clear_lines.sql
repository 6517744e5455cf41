-- Delete what stats has of an hour or a day, before it is written anew.
-- Index: PRIMARY of stats, a range. Locks: the rows.
-- 1: hour or day, 2: its start
DELETE FROM {prefix}stats WHERE grain = ? AND start = ?
LIMIT 1000000000 -- only vitess
