-- What is wrong, and who was told of it. Locks and copies nothing: the table is new.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/finding.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 52);

-- +goose Down
DROP TABLE IF EXISTS {prefix}finding;
UPDATE {prefix}slot_config SET migrated_to = 51;
