-- What somebody who signs in is known by.
-- Index: PRIMARY of web_user, one entry. Locks: none.
-- 1: the name
SELECT password, disabled_at IS NOT NULL AS is_disabled FROM {prefix}web_user WHERE name = ?
