-- Whose findings are kept, from an entry on.
-- Index: PRIMARY of finding, 100 entries at most. Locks: none.
-- 1: code, 2: code, 3: receiver, 4: how many
SELECT code, receiver, looked_at, message
FROM {prefix}finding FORCE INDEX (PRIMARY) WHERE code > ? OR (code = ? AND receiver > ?) ORDER BY code, receiver LIMIT ?
