-- Schedules may name a heartbeat.
-- Locks and copies the table of schedules: whoever changes one waits meanwhile, and so do their timers.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}schedule' AND column_name = 'heartbeat'), -- only full
  'DO 0', 'ALTER TABLE {prefix}schedule ADD COLUMN heartbeat VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''' COMMENT ''what is told of its runs or events: a name in the configuration of workers'', ADD CONSTRAINT {prefix}schedule_heartbeat CHECK (heartbeat NOT REGEXP ''[^A-Za-z0-9_.-]'')'); -- only full
PREPARE prescient_step FROM @prescient_ddl; -- only full
EXECUTE prescient_step; -- only full
DEALLOCATE PREPARE prescient_step; -- only full
ALTER TABLE {prefix}schedule ADD COLUMN heartbeat VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '' COMMENT 'what is told of its runs or events: a name in the configuration of workers'; -- only plain
-- +file procedures/delete_schedules.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 40);

-- +goose Down
-- +file procedures/delete_schedules.sql -- only full
UPDATE {prefix}slot_config SET migrated_to = 39;
