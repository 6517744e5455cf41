-- The offset by which the time of a schedule's timer was computed, as in the full dialect.
-- Locks schedule for a moment, once the transactions that have used it are over.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}schedule
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ utc_offset INT NULL COMMENT 'seconds: by which the time that its timer waits for was computed; NULL where crontabs go by instants';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 28);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 27;
ALTER TABLE {prefix}schedule DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ utc_offset;
