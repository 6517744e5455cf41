-- Take a duty from who has it: whoever wants it takes it next, the same process too.
-- Index: PRIMARY of duty, one entry. Locks: that.
-- 1: its name
UPDATE {prefix}duty SET token = token + 1, allocated_until = NULL WHERE name = ? AND NOT {free allocated_until}
