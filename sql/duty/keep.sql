-- Renew the lease of a duty, also where it lapsed meanwhile and nobody took it.
-- Index: PRIMARY of duty, one entry. Locks: that.
-- 1: for how many microseconds, 2: its name, 3: the token
UPDATE {prefix}duty SET allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE name = ? AND token = ?
