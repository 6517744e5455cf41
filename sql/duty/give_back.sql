-- Give a duty back, so that another may take it at once.
-- Index: PRIMARY of duty, one entry. Locks: that.
-- 1: its name, 2: the token
UPDATE {prefix}duty SET allocated_until = NULL WHERE name = ? AND token = ?
