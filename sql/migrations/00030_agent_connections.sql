-- How many connections an agent has at most, so that doctor can compare their sum with the server's. Zero for an agent that has no bound, or
-- whose program does not say it yet.
-- Locks the table for a moment, once the transactions that have used it are over; copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}agent' AND column_name = 'connections'),
  'DO 0', 'ALTER TABLE {prefix}agent
     ADD COLUMN connections INT UNSIGNED NOT NULL DEFAULT 0 COMMENT ''how many it has at most; 0 for no bound'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 30);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 29;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}agent' AND column_name = 'connections'),
  'ALTER TABLE {prefix}agent DROP COLUMN connections', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
