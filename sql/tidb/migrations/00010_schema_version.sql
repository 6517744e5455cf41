-- schema_version, as on the other servers. TiDB can add a column that may be there.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}slot_config ADD COLUMN IF NOT EXISTS schema_version INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'number of the newest migration' AFTER version;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 10);

-- +goose Down
ALTER TABLE {prefix}slot_config DROP COLUMN IF EXISTS schema_version;
