-- Make a token of the API.
-- Index: PRIMARY of api_token, one entry. Locks: the row.
-- 1: its hash; 2: whose it is; 3: its role; 4: for how many microseconds it is good
INSERT INTO {prefix}api_token (hash, name, role, created_at, expires_at)
VALUES (?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
