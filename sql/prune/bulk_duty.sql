-- Delete the lease that an old bulk run had.
-- Index: PRIMARY of duty, one entry. Locks: the row.
-- 1: its name
DELETE FROM {prefix}duty WHERE name = ?
