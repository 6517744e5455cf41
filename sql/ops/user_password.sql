-- Give somebody who signs in to the page another password, which ends the sessions.
-- Index: PRIMARY of web_user, one entry. Locks: the row, which is this transaction's.
-- 1: argon2id of the password; 2: the name
UPDATE {prefix}web_user SET password = ?, changed_at = UTC_TIMESTAMP(6) WHERE name = ?
