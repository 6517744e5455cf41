-- Who has a duty, and whether it may be taken.
-- Index: PRIMARY of duty, one entry. Locks: none.
-- 1: its name
SELECT worker, {free allocated_until} AS is_free FROM {prefix}duty WHERE name = ?
