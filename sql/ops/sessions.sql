-- Sessions on the page that are not over, by their numbers: with the role of the person where no provider gave one.
-- Index: PRIMARY of web_session, as many entries as the page has and those that are over between; PRIMARY of web_user, one entry each.
-- Locks: none.
-- 1: go on behind this number; 2: how many
SELECT s.number, s.person, COALESCE(s.role, u.role), s.role IS NOT NULL AS by_provider, s.host, s.created_at, s.ends_at
FROM {prefix}web_session AS s LEFT JOIN {prefix}web_user AS u ON u.name = s.person
WHERE s.number > ? AND s.ends_at > UTC_TIMESTAMP(6)
  AND (s.role IS NULL AND u.changed_at <= s.created_at AND u.disabled_at IS NULL OR s.role IS NOT NULL AND u.name IS NULL)
ORDER BY s.number LIMIT ?
