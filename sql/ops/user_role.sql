-- Give somebody who signs in to the page another role.
-- Index: PRIMARY of web_user, one entry. Locks: the row, which is this transaction's.
-- 1: the role; 2: the name
UPDATE {prefix}web_user SET role = ? WHERE name = ?
