-- Let somebody sign in to the page.
-- Index: PRIMARY of web_user, one entry. Locks: the row.
-- 1: the name; 2: the role; 3: argon2id of the password
INSERT INTO {prefix}web_user (name, role, password, created_at, changed_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))
