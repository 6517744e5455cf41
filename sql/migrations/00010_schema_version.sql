-- schema_version: the number of the newest migration, for every program to see when it opens the tables; those of the
-- migrations' own table need a right that apps do not have. Each migration from here on raises it at its end.
-- Neither server's ADD COLUMN can be repeated on both, so it is looked for first.
-- Locks slot_config for a moment, once the transactions that have read it are over. Copies its one row.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_config' AND column_name = 'schema_version'),
  'DO 0', 'ALTER TABLE {prefix}slot_config ADD COLUMN schema_version INT UNSIGNED NOT NULL DEFAULT 0 COMMENT ''number of the newest migration'' AFTER version');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 10);

-- +goose Down
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_config' AND column_name = 'schema_version'),
  'ALTER TABLE {prefix}slot_config DROP COLUMN schema_version', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
