-- How far local time is ahead of UTC at the occurrence that a schedule's timer waits for, by the time zones of whoever computed that: so
-- a crontab of fixed local times goes on after the local time that fired last, whatever other machines take the zone for. Rows that are
-- there have NULL, until their timers fire next: they go on by the zones of whoever fires them.
-- Locks schedule for a moment, once the transactions that have used it are over. Copies nothing: the column comes last, which both
-- servers add by ALGORITHM = INSTANT, or not at all.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND column_name = 'utc_offset'),
  'DO 0', 'ALTER TABLE {prefix}schedule
     ADD COLUMN utc_offset INT NULL COMMENT ''seconds: by which the time that its timer waits for was computed; NULL where crontabs go by instants'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 28);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 27;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND column_name = 'utc_offset'),
  'ALTER TABLE {prefix}schedule DROP COLUMN utc_offset', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
