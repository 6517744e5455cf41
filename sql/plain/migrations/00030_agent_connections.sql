-- How many connections an agent has at most, as in the full dialect.
-- Locks the table for a moment, once the transactions that have used it are over; copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}agent
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ connections INT UNSIGNED NOT NULL DEFAULT 0 COMMENT 'how many it has at most; 0 for no bound';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 30);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 29;
ALTER TABLE {prefix}agent DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ connections;
