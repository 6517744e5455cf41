-- Somebody who signs in to the page and is to be changed.
-- Index: PRIMARY of web_user, one entry. Locks: the row.
-- 1: the name
SELECT name, role, created_at, changed_at, disabled_at, last_used_at, 0 AS sessions FROM {prefix}web_user WHERE name = ? FOR UPDATE
