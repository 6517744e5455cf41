-- By what each bucket of the ledger was run, so that a slot which only a sweep served shows as one that nobody served in time. And of which
-- kind an agent is: timers, which come and go, leave a row too, with the time by which they are to be heard of again. Programs of the
-- version before write neither: run_by is empty in their rows, which count as served, and their agents are those of work.
-- Locks each table for a moment, once the transactions that have used it are over. Copies nothing: the columns come last, which both servers
-- add by ALGORITHM = INSTANT, or not at all.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_run' AND column_name = 'run_by'),
  'DO 0', 'ALTER TABLE {prefix}slot_run
     ADD COLUMN run_by VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''' COMMENT ''run, work, sweep or roll-forward; empty where a program wrote the row that does not say it'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}agent' AND column_name = 'kind'),
  'DO 0', 'ALTER TABLE {prefix}agent
     ADD COLUMN kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''work'' COMMENT ''work, or a timer that calls run or sweep'',
     ADD COLUMN due_at DATETIME(6) NULL COMMENT ''UTC: by when a timer is to be heard of again; NULL for what stays up'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 31);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 30;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}agent' AND column_name = 'kind'),
  'ALTER TABLE {prefix}agent DROP COLUMN kind, DROP COLUMN due_at', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_run' AND column_name = 'run_by'),
  'ALTER TABLE {prefix}slot_run DROP COLUMN run_by', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
