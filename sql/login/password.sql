-- Change a password by whoever has it, unless it was changed meanwhile.
-- Index: PRIMARY of web_user, one entry. Locks: the row.
-- 1: argon2id of the new one; 2: the name; 3: argon2id of the old one
UPDATE {prefix}web_user SET password = ?, changed_at = UTC_TIMESTAMP(6) WHERE name = ? AND password = ? AND disabled_at IS NULL
