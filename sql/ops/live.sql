-- A token that is good.
-- Index: expires_at of api_token, until one is found that was not revoked. Locks: none.
SELECT number FROM {prefix}api_token WHERE expires_at > UTC_TIMESTAMP(6) AND revoked_at IS NULL LIMIT 1
