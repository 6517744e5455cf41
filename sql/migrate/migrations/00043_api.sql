-- Tokens and idempotency keys of the API. Locks and copies nothing: the tables are new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/api_token.sql
-- +file tables/api_key.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 43);

-- +goose Down
DROP TABLE IF EXISTS {prefix}api_key;
DROP TABLE IF EXISTS {prefix}api_token;
UPDATE {prefix}slot_config SET migrated_to = 42;
