-- By what each bucket was run, and of which kind an agent is, as in the full dialect.
-- Locks each table for a moment, once the transactions that have used it are over; copies nothing.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}slot_run
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ run_by VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'run, work, sweep or roll-forward; empty where a program wrote the row that does not say it';
ALTER TABLE {prefix}agent
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'work' COMMENT 'work, or a timer that calls run or sweep',
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ due_at DATETIME(6) NULL COMMENT 'UTC: by when a timer is to be heard of again; NULL for what stays up';
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 31);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 30;
ALTER TABLE {prefix}agent
  DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ kind,
  DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ due_at;
ALTER TABLE {prefix}slot_run DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ run_by;
