-- A token of the API that is to be changed.
-- Index: PRIMARY of api_token, one entry. Locks: the row.
-- 1: its number
SELECT number, name, role, created_at, expires_at, revoked_at, last_used_at,
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= UTC_TIMESTAMP(6) THEN 'expired' ELSE 'live' END AS state
FROM {prefix}api_token WHERE number = ? FOR UPDATE
