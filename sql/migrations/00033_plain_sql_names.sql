-- What plain SQL must keep to in all tables that apps and operators fill, as the Go client does: names that can be seen, identifiers, times
-- that are no zero dates, and bounds. No entity is called schedule in another spelling. What a definition of a job has inside is read by the library: a bad one is named there.
-- What the library takes for a character that cannot be seen is filled in for unseen; ~ stands for a backslash, which a sql_mode may take for
-- itself.
-- What is all ASCII is not searched for them. event_seen and audit_log name what is there, whatever its name.
-- Rows of before that are beyond that stay, run and end as they would have: where there are some, the checks of their table are left out;
-- those on names of future_job and event_outbox also where a schedule has such an id, which its timer and its events have. doctor says so, and
-- `migrate --repair` adds them once those are gone.
-- Locks each table against writes while the server copies it: future_job as long as 00014_future_job_bounds.sql says.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_seen')
                        OR EXISTS (SELECT 1 FROM {prefix}future_job WHERE NOT (LENGTH(CONCAT(entity_key, tag)) = CHAR_LENGTH(CONCAT(entity_key, tag))
       OR CONCAT(entity_key, tag) NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4)))
                                   OR NOT (entity_name = 'schedule' OR LOWER(entity_name) <> 'schedule')
                                   OR NOT (inserted_at >= TIMESTAMP'1000-01-01 00:00:00'))
                        OR EXISTS (SELECT 1 FROM {prefix}schedule WHERE NOT (LENGTH(id) = CHAR_LENGTH(id)
       OR id NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4)))),
  'DO 0', 'ALTER TABLE {prefix}future_job
     ADD CONSTRAINT {prefix}future_job_seen CHECK (LENGTH(CONCAT(entity_key, tag)) = CHAR_LENGTH(CONCAT(entity_key, tag))
       OR CONCAT(entity_key, tag) NOT REGEXP REPLACE(''{unseen}'', ''~'', CONVERT(UNHEX(''5C'') USING utf8mb4))),
     ADD CONSTRAINT {prefix}future_job_unreserved CHECK (entity_name = ''schedule'' OR LOWER(entity_name) <> ''schedule''),
     ADD CONSTRAINT {prefix}future_job_inserted CHECK (inserted_at >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND constraint_name = '{prefix}schedule_seen')
                        OR EXISTS (SELECT 1 FROM {prefix}schedule WHERE NOT (LENGTH(CONCAT(id, owner_key)) = CHAR_LENGTH(CONCAT(id, owner_key))
       OR CONCAT(id, owner_key) NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4)))
                                   OR NOT (CONCAT(job_exec, owner_name, pool) NOT REGEXP '[^A-Za-z0-9_.-]' AND topic NOT REGEXP '[^A-Za-z0-9_./-]'
       AND job_exec <> 'schedule.fire'
       AND (LENGTH(owner_name) = 0) = (LENGTH(owner_key) = 0))
                                   OR NOT (created_at >= TIMESTAMP'1000-01-01 00:00:00' AND COALESCE(updated_at, created_at) >= TIMESTAMP'1000-01-01 00:00:00'
       AND COALESCE(disabled_at, created_at) >= TIMESTAMP'1000-01-01 00:00:00')
                                   OR NOT (COALESCE(catch_up_within, 0) <= 316224000 AND COALESCE(expires_after, 0) <= 316224000 AND COALESCE(jitter, 0) <= 316224000
       AND COALESCE(tolerance, 0) <= 316224000 AND COALESCE(quota, 0) <= 316224000 AND COALESCE(utc_offset, 0) BETWEEN -93600 AND 93600)
                                   OR NOT (enabled IN (0, 1) AND may_coalesce IN (0, 1) AND is_long IN (0, 1)
       AND LENGTH(catch_up) > 0 AND COALESCE(LENGTH(overlap), 1) > 0)
                                   OR NOT (is_long = 1 AND LENGTH(job_exec) > 0
       OR is_long = 0 AND overlap IS NULL AND COALESCE(tolerance, 0) = 0 AND quota IS NULL AND LENGTH(pool) = 0)),
  'DO 0', 'ALTER TABLE {prefix}schedule
     ADD CONSTRAINT {prefix}schedule_seen CHECK (LENGTH(CONCAT(id, owner_key)) = CHAR_LENGTH(CONCAT(id, owner_key))
       OR CONCAT(id, owner_key) NOT REGEXP REPLACE(''{unseen}'', ''~'', CONVERT(UNHEX(''5C'') USING utf8mb4))),
     ADD CONSTRAINT {prefix}schedule_identified CHECK (CONCAT(job_exec, owner_name, pool) NOT REGEXP ''[^A-Za-z0-9_.-]'' AND topic NOT REGEXP ''[^A-Za-z0-9_./-]''
       AND job_exec <> ''schedule.fire''
       AND (LENGTH(owner_name) = 0) = (LENGTH(owner_key) = 0)),
     ADD CONSTRAINT {prefix}schedule_dated CHECK (created_at >= TIMESTAMP''1000-01-01 00:00:00'' AND COALESCE(updated_at, created_at) >= TIMESTAMP''1000-01-01 00:00:00''
       AND COALESCE(disabled_at, created_at) >= TIMESTAMP''1000-01-01 00:00:00''),
     ADD CONSTRAINT {prefix}schedule_bounded CHECK (COALESCE(catch_up_within, 0) <= 316224000 AND COALESCE(expires_after, 0) <= 316224000 AND COALESCE(jitter, 0) <= 316224000
       AND COALESCE(tolerance, 0) <= 316224000 AND COALESCE(quota, 0) <= 316224000 AND COALESCE(utc_offset, 0) BETWEEN -93600 AND 93600),
     ADD CONSTRAINT {prefix}schedule_switched CHECK (enabled IN (0, 1) AND may_coalesce IN (0, 1) AND is_long IN (0, 1)
       AND LENGTH(catch_up) > 0 AND COALESCE(LENGTH(overlap), 1) > 0),
     ADD CONSTRAINT {prefix}schedule_long CHECK (is_long = 1 AND LENGTH(job_exec) > 0
       OR is_long = 0 AND overlap IS NULL AND COALESCE(tolerance, 0) = 0 AND quota IS NULL AND LENGTH(pool) = 0)');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule_deleted' AND constraint_name = '{prefix}schedule_deleted_named')
                        OR EXISTS (SELECT 1 FROM {prefix}schedule_deleted WHERE NOT (LENGTH(id) > 0 AND fired_until >= TIMESTAMP'1000-01-01 00:00:00')),
  'DO 0', 'ALTER TABLE {prefix}schedule_deleted
     ADD CONSTRAINT {prefix}schedule_deleted_named CHECK (LENGTH(id) > 0 AND fired_until >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}event_outbox' AND constraint_name = '{prefix}event_outbox_seen')
                        OR EXISTS (SELECT 1 FROM {prefix}event_outbox WHERE NOT (LENGTH(CONCAT(id, event_key)) = CHAR_LENGTH(CONCAT(id, event_key))
       OR CONCAT(id, event_key) NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4))))
                        OR EXISTS (SELECT 1 FROM {prefix}schedule WHERE NOT (LENGTH(id) = CHAR_LENGTH(id)
       OR id NOT REGEXP REPLACE('{unseen}', '~', CONVERT(UNHEX('5C') USING utf8mb4)))),
  'DO 0', 'ALTER TABLE {prefix}event_outbox
     ADD CONSTRAINT {prefix}event_outbox_seen CHECK (LENGTH(CONCAT(id, event_key)) = CHAR_LENGTH(CONCAT(id, event_key))
       OR CONCAT(id, event_key) NOT REGEXP REPLACE(''{unseen}'', ''~'', CONVERT(UNHEX(''5C'') USING utf8mb4)))');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}audit_log' AND constraint_name = '{prefix}audit_log_dated')
                        OR EXISTS (SELECT 1 FROM {prefix}audit_log WHERE NOT (incarnation >= TIMESTAMP'1000-01-01 00:00:00')),
  'DO 0', 'ALTER TABLE {prefix}audit_log
     ADD CONSTRAINT {prefix}audit_log_dated CHECK (incarnation >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_definition' AND constraint_name = '{prefix}job_definition_named')
                        OR EXISTS (SELECT 1 FROM {prefix}job_definition WHERE NOT (LENGTH(name) > 0 AND name NOT REGEXP '[^A-Za-z0-9_.-]' 
       AND version > 0)
                                   OR NOT (definition LIKE '{%}' AND LENGTH(definition) <= 8388608)
                                   OR NOT (created_at >= TIMESTAMP'1000-01-01 00:00:00' AND updated_at >= TIMESTAMP'1000-01-01 00:00:00')),
  'DO 0', 'ALTER TABLE {prefix}job_definition
     ADD CONSTRAINT {prefix}job_definition_named CHECK (LENGTH(name) > 0 AND name NOT REGEXP ''[^A-Za-z0-9_.-]'' 
       AND version > 0),
     ADD CONSTRAINT {prefix}job_definition_bounded CHECK (definition LIKE ''{%}'' AND LENGTH(definition) <= 8388608),
     ADD CONSTRAINT {prefix}job_definition_dated CHECK (created_at >= TIMESTAMP''1000-01-01 00:00:00'' AND updated_at >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}step_definition' AND constraint_name = '{prefix}step_definition_named')
                        OR EXISTS (SELECT 1 FROM {prefix}step_definition WHERE NOT (LENGTH(name) > 0 AND name NOT REGEXP '[^A-Za-z0-9_.-]' 
       AND version > 0)
                                   OR NOT (definition LIKE '{%}' AND LENGTH(definition) <= 131072)
                                   OR NOT (created_at >= TIMESTAMP'1000-01-01 00:00:00' AND updated_at >= TIMESTAMP'1000-01-01 00:00:00')),
  'DO 0', 'ALTER TABLE {prefix}step_definition
     ADD CONSTRAINT {prefix}step_definition_named CHECK (LENGTH(name) > 0 AND name NOT REGEXP ''[^A-Za-z0-9_.-]'' 
       AND version > 0),
     ADD CONSTRAINT {prefix}step_definition_bounded CHECK (definition LIKE ''{%}'' AND LENGTH(definition) <= 131072),
     ADD CONSTRAINT {prefix}step_definition_dated CHECK (created_at >= TIMESTAMP''1000-01-01 00:00:00'' AND updated_at >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_step' AND constraint_name = '{prefix}job_step_named')
                        OR EXISTS (SELECT 1 FROM {prefix}job_step WHERE NOT (LENGTH(step) > 0 AND LENGTH(job) > 0 AND CONCAT(step, job) NOT REGEXP '[^A-Za-z0-9_.-]')),
  'DO 0', 'ALTER TABLE {prefix}job_step
     ADD CONSTRAINT {prefix}job_step_named CHECK (LENGTH(step) > 0 AND LENGTH(job) > 0 AND CONCAT(step, job) NOT REGEXP ''[^A-Za-z0-9_.-]'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_version' AND constraint_name = '{prefix}job_version_named')
                        OR EXISTS (SELECT 1 FROM {prefix}job_version WHERE NOT (LENGTH(job) > 0 AND job NOT REGEXP '[^A-Za-z0-9_.-]' 
       AND version > 0)
                                   OR NOT (definition LIKE '{%}' AND LENGTH(definition) <= 8388608)
                                   OR NOT (created_at >= TIMESTAMP'1000-01-01 00:00:00')),
  'DO 0', 'ALTER TABLE {prefix}job_version
     ADD CONSTRAINT {prefix}job_version_named CHECK (LENGTH(job) > 0 AND job NOT REGEXP ''[^A-Za-z0-9_.-]'' 
       AND version > 0),
     ADD CONSTRAINT {prefix}job_version_bounded CHECK (definition LIKE ''{%}'' AND LENGTH(definition) <= 8388608),
     ADD CONSTRAINT {prefix}job_version_dated CHECK (created_at >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_pause' AND constraint_name = '{prefix}job_pause_named')
                        OR EXISTS (SELECT 1 FROM {prefix}job_pause WHERE NOT (job_exec IN ('*', '*events') OR LENGTH(job_exec) > 0 AND job_exec NOT REGEXP '[^A-Za-z0-9_.-]')
                                   OR NOT (since >= TIMESTAMP'1000-01-01 00:00:00')),
  'DO 0', 'ALTER TABLE {prefix}job_pause
     ADD CONSTRAINT {prefix}job_pause_named CHECK (job_exec IN (''*'', ''*events'') OR LENGTH(job_exec) > 0 AND job_exec NOT REGEXP ''[^A-Za-z0-9_.-]''),
     ADD CONSTRAINT {prefix}job_pause_dated CHECK (since >= TIMESTAMP''1000-01-01 00:00:00'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 33);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 32;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_pause' AND constraint_name = '{prefix}job_pause_named'),
  'ALTER TABLE {prefix}job_pause
     DROP CONSTRAINT {prefix}job_pause_named,
     DROP CONSTRAINT {prefix}job_pause_dated', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_version' AND constraint_name = '{prefix}job_version_named'),
  'ALTER TABLE {prefix}job_version
     DROP CONSTRAINT {prefix}job_version_named,
     DROP CONSTRAINT {prefix}job_version_bounded,
     DROP CONSTRAINT {prefix}job_version_dated', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_step' AND constraint_name = '{prefix}job_step_named'),
  'ALTER TABLE {prefix}job_step
     DROP CONSTRAINT {prefix}job_step_named', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}step_definition' AND constraint_name = '{prefix}step_definition_named'),
  'ALTER TABLE {prefix}step_definition
     DROP CONSTRAINT {prefix}step_definition_named,
     DROP CONSTRAINT {prefix}step_definition_bounded,
     DROP CONSTRAINT {prefix}step_definition_dated', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_definition' AND constraint_name = '{prefix}job_definition_named'),
  'ALTER TABLE {prefix}job_definition
     DROP CONSTRAINT {prefix}job_definition_named,
     DROP CONSTRAINT {prefix}job_definition_bounded,
     DROP CONSTRAINT {prefix}job_definition_dated', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}audit_log' AND constraint_name = '{prefix}audit_log_dated'),
  'ALTER TABLE {prefix}audit_log
     DROP CONSTRAINT {prefix}audit_log_dated', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}event_outbox' AND constraint_name = '{prefix}event_outbox_seen'),
  'ALTER TABLE {prefix}event_outbox
     DROP CONSTRAINT {prefix}event_outbox_seen', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule_deleted' AND constraint_name = '{prefix}schedule_deleted_named'),
  'ALTER TABLE {prefix}schedule_deleted
     DROP CONSTRAINT {prefix}schedule_deleted_named', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}schedule' AND constraint_name = '{prefix}schedule_seen'),
  'ALTER TABLE {prefix}schedule
     DROP CONSTRAINT {prefix}schedule_seen,
     DROP CONSTRAINT {prefix}schedule_identified,
     DROP CONSTRAINT {prefix}schedule_dated,
     DROP CONSTRAINT {prefix}schedule_bounded,
     DROP CONSTRAINT {prefix}schedule_switched,
     DROP CONSTRAINT {prefix}schedule_long', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_seen'),
  'ALTER TABLE {prefix}future_job
     DROP CONSTRAINT {prefix}future_job_seen,
     DROP CONSTRAINT {prefix}future_job_unreserved,
     DROP CONSTRAINT {prefix}future_job_inserted', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
