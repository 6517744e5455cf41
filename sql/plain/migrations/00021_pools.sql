-- Pools of long runs, as in the full dialect.
-- Locks each table for a moment, once the transactions that have used it are over, and builds the index beside what goes on.

-- +goose NO TRANSACTION
-- +goose Up
ALTER TABLE {prefix}schedule
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ pool VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'of its long runs; empty for that of the job_exec';
ALTER TABLE {prefix}long_run
  ADD COLUMN /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ pool VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'whose agents may have it; empty for all';
ALTER TABLE {prefix}long_run ADD KEY /*T! IF NOT EXISTS *//*M! IF NOT EXISTS */ pool (pool, allocated_until);
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 21);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 20;
ALTER TABLE {prefix}long_run DROP KEY /*T! IF EXISTS *//*M! IF EXISTS */ pool;
ALTER TABLE {prefix}long_run DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ pool;
ALTER TABLE {prefix}schedule DROP COLUMN /*T! IF EXISTS *//*M! IF EXISTS */ pool;
