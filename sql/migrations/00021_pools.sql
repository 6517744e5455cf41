-- Pools of long runs: an agent claims those of the pools that it serves. The column is empty for what any agent may have. The index
-- has what an agent can claim, and what lapses next.
-- Locks each table for a moment, once the transactions that have used it are over, and builds the index beside what goes on.
-- long_run is small: it has what is under way, and the last run of each schedule.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND column_name = 'pool'),
  'DO 0', 'ALTER TABLE {prefix}schedule
     ADD COLUMN pool VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''' COMMENT ''of its long runs; empty for that of the job_exec'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}long_run' AND column_name = 'pool'),
  'DO 0', 'ALTER TABLE {prefix}long_run
     ADD COLUMN pool VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''' COMMENT ''whose agents may have it; empty for all'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}long_run' AND index_name = 'pool'),
  'DO 0', 'ALTER TABLE {prefix}long_run ADD KEY pool (pool, allocated_until), ALGORITHM = INPLACE, LOCK = NONE');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 21);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 20;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}long_run' AND column_name = 'pool'),
  'ALTER TABLE {prefix}long_run DROP KEY pool, DROP COLUMN pool', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND column_name = 'pool'),
  'ALTER TABLE {prefix}schedule DROP COLUMN pool', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
