-- The account by which serve knows its callers: it reads tokens by their hashes, notes when they were used, and forgets old idempotency keys.
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT, UPDATE (last_used_at) ON {database}.{api_token} TO {account};
GRANT SELECT (token, idempotency_key, at), DELETE ON {database}.{api_key} TO {account};
