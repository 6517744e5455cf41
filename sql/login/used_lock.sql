-- Lock somebody whose last use is to be noted. Where somebody else has the row, the error comes at once.
-- Index: PRIMARY of web_user, one entry. Locks: the row.
-- 1: the name
SELECT name FROM {prefix}web_user WHERE name = ? FOR UPDATE NOWAIT
