-- A session that is not over: what is remembered in it, whose it is and what that one may do, and whether the last use is to be
-- noted. It is over, too, where the person was disabled, has another password since, or had it from a provider and has a password
-- by now.
-- Index: hash of web_session, one entry; PRIMARY of web_user, one entry. Locks: none.
-- 1: its hash
SELECT s.data, s.person, COALESCE(s.role, u.role), s.role IS NOT NULL AS by_provider,
  u.name IS NOT NULL AND (u.last_used_at IS NULL OR u.last_used_at < UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE) AS is_news
FROM {prefix}web_session AS s LEFT JOIN {prefix}web_user AS u ON u.name = s.person
WHERE s.hash = ? AND s.ends_at > UTC_TIMESTAMP(6)
  AND (s.role IS NULL AND u.changed_at <= s.created_at AND u.disabled_at IS NULL OR s.role IS NOT NULL AND u.name IS NULL)
