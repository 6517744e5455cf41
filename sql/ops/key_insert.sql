-- Note an idempotency key, in the transaction of its deed.
-- Index: PRIMARY of api_key, one entry. Locks: the row.
-- 1: the token; 2: the key; 3: the operation; 4: a hash of what is asked
INSERT INTO {prefix}api_key (token, idempotency_key, operation, body, at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))
