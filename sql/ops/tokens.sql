-- Tokens of the API, by their numbers.
-- Index: PRIMARY of api_token, as many entries as the page has. Locks: none.
-- 1: go on behind this number; 2: how many
SELECT number, name, role, created_at, expires_at, revoked_at, last_used_at,
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= UTC_TIMESTAMP(6) THEN 'expired' ELSE 'live' END AS state
FROM {prefix}api_token WHERE number > ? ORDER BY number LIMIT ?
