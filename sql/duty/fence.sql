-- Prove that a duty is still whose token this is. Nobody takes it until the transaction is over.
-- Index: PRIMARY of duty, one entry. Locks: that.
-- 1: its name, 2: the token
SELECT token FROM {prefix}duty WHERE name = ? AND token = ? FOR UPDATE
