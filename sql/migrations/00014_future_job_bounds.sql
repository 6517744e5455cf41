-- What an insert by plain SQL must keep to, as the client does: names that are not empty, which the commands could not
-- address, and a payload of 4 MB (and 64 bytes, for what MySQL adds), as the server stores it. MySQL takes the first of the
-- comments for text, MariaDB the second: both functions only look up a length.
-- Rows of before that are beyond that stay, run and end as they would have: where there are some, the checks are left out,
-- and `migrate --repair` adds them once those are gone.
-- Locks future_job against writes while the server copies it: of 10 million rows MariaDB for 98 s and MySQL for 157 s
-- (BenchmarkMigrations of prescient/internal/acceptance; 2 cores, a buffer pool of 4 GB).

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_payload_size')
                        OR EXISTS (SELECT 1 FROM {prefix}future_job WHERE /*!80000 JSON_STORAGE_SIZE *//*M! LENGTH */(payload) > 4194368
                                   OR LENGTH(entity_name) = 0 OR LENGTH(entity_key) = 0 OR LENGTH(job_exec) = 0),
  'DO 0', 'ALTER TABLE {prefix}future_job
     ADD CONSTRAINT {prefix}future_job_payload_size CHECK (/*!80000 JSON_STORAGE_SIZE *//*M! LENGTH */(payload) <= 4194368),
     ADD CONSTRAINT {prefix}future_job_named CHECK (LENGTH(entity_name) > 0 AND LENGTH(entity_key) > 0 AND LENGTH(job_exec) > 0)');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 14);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 13;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND constraint_name = '{prefix}future_job_payload_size'),
  'ALTER TABLE {prefix}future_job DROP CONSTRAINT {prefix}future_job_payload_size, DROP CONSTRAINT {prefix}future_job_named', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
