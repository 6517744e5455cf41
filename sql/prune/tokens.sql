-- Forget tokens of the API that ended long ago.
-- Index: expires_at of api_token, a range. Locks: the rows.
-- 1: before, 2: limit
DELETE FROM {prefix}api_token WHERE expires_at < ? ORDER BY expires_at LIMIT ?
