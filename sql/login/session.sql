-- A session that is not over: what is remembered in it, whose it is and what that one may do, whether the last use of the person is
-- to be noted, and whether that of the session is, by a minute or more. It is over, too, where the person was disabled, has another
-- password since, or had it from a provider and has a password by now.
-- Index: hash of web_session, one entry; PRIMARY of web_user, one entry. Locks: none.
-- 1: for how many microseconds one is good at most; 2: for how many one that is not used; 3: its hash; 4: as 1
SELECT s.data, s.person, COALESCE(s.role, u.role), s.role IS NOT NULL AS by_provider,
  u.name IS NOT NULL AND (u.last_used_at IS NULL OR u.last_used_at < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE) AS is_news,
  s.ends_at < LEAST(s.created_at + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND) - INTERVAL 1 MINUTE AS is_used
FROM {prefix}web_session AS s LEFT JOIN {prefix}web_user AS u ON u.name = s.person
WHERE s.hash = ? AND s.ends_at > UTC_TIMESTAMP(6) AND s.created_at > UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
  AND (s.role IS NULL AND u.changed_at <= s.created_at AND u.disabled_at IS NULL OR s.role IS NOT NULL AND u.name IS NULL)
