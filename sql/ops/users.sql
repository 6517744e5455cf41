-- People who sign in to the page, by their names, with how many sessions each has.
-- Index: PRIMARY of web_user, as many entries as the page has; person of web_session, each one's entries. Locks: none.
-- 1: go on behind this name; 2: how many
SELECT name, role, created_at, changed_at, disabled_at, last_used_at,
  (SELECT COUNT(*) FROM {prefix}web_session AS s WHERE s.person = u.name AND s.role IS NULL AND s.ends_at > UTC_TIMESTAMP(6)
    AND s.created_at >= u.changed_at AND u.disabled_at IS NULL) AS sessions
FROM {prefix}web_user AS u WHERE name > ? ORDER BY name LIMIT ?
