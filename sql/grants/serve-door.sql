-- The account by which serve knows its callers: it reads tokens and sessions by their hashes, notes when they were used, has people sign in and change
-- their own passwords, and forgets old sessions and idempotency keys.
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT, UPDATE (last_used_at) ON {database}.{api_token} TO {account};
GRANT SELECT (token, idempotency_key, at), DELETE ON {database}.{api_key} TO {account};
GRANT SELECT, UPDATE (password, changed_at, last_used_at) ON {database}.{web_user} TO {account};
GRANT SELECT, INSERT (hash, person, role, host, data, created_at, ends_at), DELETE, UPDATE (data, ends_at) ON {database}.{web_session} TO {account};
GRANT INSERT ({entry_columns}) ON {database}.{audit_log} TO {account};
