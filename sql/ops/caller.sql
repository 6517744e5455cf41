-- Who has a token: whether it is refused by now, and whether its last use is to be noted.
-- Index: hash of api_token, one entry. Locks: none.
-- 1: its hash
SELECT number, name, role, expires_at <= UTC_TIMESTAMP(6) AS is_expired, revoked_at IS NOT NULL AS is_revoked,
  last_used_at IS NULL OR last_used_at < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE AS is_news
FROM {prefix}api_token WHERE hash = ?
