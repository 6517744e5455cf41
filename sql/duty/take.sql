-- Take a duty whose lease is over.
-- Index: PRIMARY of duty, one entry. Locks: that.
-- 1: by how much the token rises, 2: who takes it, 3: for how many microseconds, 4: its name, 5: the token that was seen
UPDATE {prefix}duty SET token = token + ?, worker = ?, allocated_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE name = ? AND token = ? AND {free allocated_until}
