-- Take a duty that nobody ever had.
-- Index: PRIMARY of duty, one entry. Locks: that.
-- 1: its name, 2: the token, 3: who takes it, 4: for how many microseconds
INSERT INTO {prefix}duty (name, token, worker, allocated_until) VALUES (?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
