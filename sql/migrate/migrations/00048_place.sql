-- Where rows lie in a sharded keyspace of Vitess: with what their schedule, their entity or the object of their audit entry has, by the first 12
-- bytes of its job_key. What is small, and the schedules, whoever writes them, have it filled in, and held to; an event may lie with its key as an
-- entity, name/key, or with the schedule of that id. Where there may be years of rows, those who write to Vitess give it, and it is NULL elsewhere.
-- Locks and copies the tables of schedules, jobs and the outbox; the column of the other tables is added without a copy.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}schedule' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}schedule ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(id AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}schedule_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(id AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}schedule ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}schedule_version' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}schedule_version ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(schedule AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}schedule_version_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(schedule AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}schedule_version ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}schedule_refused' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}schedule_refused ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(schedule_id AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}schedule_refused_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(schedule_id AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}schedule_refused ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}schedule_deleted' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}schedule_deleted ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(id AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}schedule_deleted_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(id AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}schedule_deleted ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}job_definition' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}job_definition ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), ''job/'', CAST(name AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}job_definition_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), ''job/'', CAST(name AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}job_definition ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}job_version' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}job_version ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), ''job/'', CAST(job AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}job_version_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), ''job/'', CAST(job AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}job_version ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}job_step' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}job_step ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), ''job/'', CAST(job AS BINARY)), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}job_step_placed CHECK (place = SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), ''job/'', CAST(job AS BINARY)), 256)), 1, 12))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}job_step ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}event_outbox' AND column_name = 'place'), -- only full
  'DO 0', 'ALTER TABLE {prefix}event_outbox ADD COLUMN place BINARY(12) NOT NULL DEFAULT (SUBSTRING(UNHEX(SHA2(INSERT(CAST(event_key AS BINARY), LOCATE(''/'', CAST(event_key AS BINARY)), 1, UNHEX(''00'')), 256)), 1, 12)) COMMENT ''its keyspace id: where a sharded keyspace has it'', ADD CONSTRAINT {prefix}event_outbox_placed CHECK (place IN (SUBSTRING(UNHEX(SHA2(INSERT(CAST(event_key AS BINARY), LOCATE(''/'', CAST(event_key AS BINARY)), 1, UNHEX(''00'')), 256)), 1, 12), SUBSTRING(UNHEX(SHA2(CONCAT(''schedule'', UNHEX(''00''), CAST(event_key AS BINARY)), 256)), 1, 12)))'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}event_outbox ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it'; -- only plain
ALTER TABLE {prefix}event_set_aside ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it';
ALTER TABLE {prefix}event_published ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it';
ALTER TABLE {prefix}audit_log ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it';
ALTER TABLE {prefix}step_run_log ADD COLUMN place BINARY(12) NULL COMMENT 'its keyspace id: where a sharded keyspace has it';
ALTER TABLE {prefix}step_run_log ALTER COLUMN place SET DEFAULT (SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), 'job/', CAST(job AS BINARY)), 256)), 1, 12)); -- only full
-- A row without a place stops a reshard.
UPDATE {prefix}audit_log SET place = SUBSTRING(stream, 1, 12) WHERE stream = {installation};
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 48);

-- +goose Down
UPDATE {prefix}slot_config SET migrated_to = 47;
