-- The times of a check are days of the calendar: by its own sql_mode a session may write the 31st of February, or a month 0. Nothing runs at
-- such a time, and the server copies no table that has one, so that a change of the resolution could not be finished.
-- Where there are such rows, the check of the table is left out. doctor says so, and `migrate --repair` adds it once those are gone.
-- Locks future_job against writes while the server copies it, as long as 00014_future_job_bounds.sql says. Reads all of future_job.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_calendar')
                        OR EXISTS (SELECT 1 FROM {prefix}future_job WHERE NOT (
                                     (due_at + INTERVAL 0 DAY = due_at AND first_check_at + INTERVAL 0 DAY = first_check_at
                                       AND next_check_at + INTERVAL 0 DAY = next_check_at AND inserted_at + INTERVAL 0 DAY = inserted_at) IS TRUE
                                     AND (expires_at IS NULL OR (expires_at + INTERVAL 0 DAY = expires_at) IS TRUE))),
  'DO 0', 'ALTER TABLE {prefix}future_job ADD CONSTRAINT {prefix}future_job_calendar CHECK (
       (due_at + INTERVAL 0 DAY = due_at AND first_check_at + INTERVAL 0 DAY = first_check_at
         AND next_check_at + INTERVAL 0 DAY = next_check_at AND inserted_at + INTERVAL 0 DAY = inserted_at) IS TRUE
       AND (expires_at IS NULL OR (expires_at + INTERVAL 0 DAY = expires_at) IS TRUE))');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 35);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 34;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_calendar'),
  'ALTER TABLE {prefix}future_job DROP CONSTRAINT {prefix}future_job_calendar', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
