-- Somebody who signs in to the page, with how many sessions there are.
-- Index: PRIMARY of web_user, one entry; person of web_session, each entry of the person. Locks: none.
-- 1: the name
SELECT name, role, created_at, changed_at, disabled_at, last_used_at,
  (SELECT COUNT(*) FROM {prefix}web_session AS s WHERE s.person = u.name AND s.role IS NULL AND s.ends_at > UTC_TIMESTAMP(6)
    AND s.created_at >= u.changed_at AND u.disabled_at IS NULL) AS sessions
FROM {prefix}web_user AS u WHERE name = ?
