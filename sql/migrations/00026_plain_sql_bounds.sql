-- More of what plain SQL must keep to, as the Go client does: a check's entity_name and job_exec are identifiers and its times are no zero
-- dates; the id of a schedule that sends events, which is their key, has no blank at an end and no control characters.
-- Rows of before that are beyond that stay, run and end as they would have: where there are some, the checks of their table are left out.
-- doctor says so, and `migrate --repair` adds them once those are gone.
-- Locks future_job against writes while the server copies it, as long as 00014_future_job_bounds.sql says, and then schedule.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_identified')
                        OR EXISTS (SELECT 1 FROM {prefix}future_job WHERE CONCAT(entity_name, job_exec) REGEXP '[^A-Za-z0-9_.-]'
                                   OR due_at < TIMESTAMP'1000-01-01 00:00:00' OR first_check_at < TIMESTAMP'1000-01-01 00:00:00'
                                   OR expires_at < TIMESTAMP'1000-01-01 00:00:00'),
  'DO 0', 'ALTER TABLE {prefix}future_job
     ADD CONSTRAINT {prefix}future_job_identified CHECK (CONCAT(entity_name, job_exec) NOT REGEXP ''[^A-Za-z0-9_.-]''),
     ADD CONSTRAINT {prefix}future_job_dated CHECK (due_at >= TIMESTAMP''1000-01-01 00:00:00'' AND first_check_at >= TIMESTAMP''1000-01-01 00:00:00''
       AND expires_at >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND constraint_name = '{prefix}schedule_sends')
                        OR EXISTS (SELECT 1 FROM {prefix}schedule WHERE topic <> '' AND id REGEXP '^ | $|[[:cntrl:]]'),
  'DO 0', 'ALTER TABLE {prefix}schedule
     ADD CONSTRAINT {prefix}schedule_sends CHECK (topic = '''' OR id NOT REGEXP ''^ | $|[[:cntrl:]]'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 26);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 25;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND constraint_name = '{prefix}schedule_sends'),
  'ALTER TABLE {prefix}schedule DROP CONSTRAINT {prefix}schedule_sends', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_identified'),
  'ALTER TABLE {prefix}future_job DROP CONSTRAINT {prefix}future_job_identified, DROP CONSTRAINT {prefix}future_job_dated', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
