-- What an INSERT of events by plain SQL must keep to, as the Go client does, and numbers that no INSERT can use up.
--
-- event_outbox.seq was an AUTO_INCREMENT. One row at its end, which SET insert_id makes without any right to name the column, would have
-- refused all that came after it. Now seq is the second of the INSERT since 2020 and, in its last 33 bits, a number that the server counts
-- up: what stands there already decides nothing. The numbers of before are lower than all of these.
-- event_set_aside.seq is a number of its own, which the forwarder makes of the time: only the comment changes.
-- Rows of before that are beyond the bounds stay, and are published. Where there are some, the checks are left out: doctor says so, and
-- `migrate --repair` adds them once those are gone.
-- Locks event_outbox and event_seen against writes while the server copies each: a million rows take some seconds.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}event_outbox' AND constraint_name = '{prefix}event_outbox_named'),
  'DO 0', IF(EXISTS (SELECT 1 FROM {prefix}event_outbox WHERE shard > 63 OR LENGTH(payload) > 1048576
      OR generated_at < TIMESTAMP'1000-01-01 00:00:00' OR inserted_at < TIMESTAMP'1000-01-01 00:00:00'
      OR id REGEXP '^$|^ | $|[[:cntrl:]]' OR event_key REGEXP '^$|^ | $|[[:cntrl:]]' OR topic REGEXP '^$|[^A-Za-z0-9_./-]'),
    'ALTER TABLE {prefix}event_outbox
     MODIFY seq BIGINT UNSIGNED NOT NULL DEFAULT (((UNIX_TIMESTAMP() - 1577836800) << 33) | (UUID_SHORT() & 8589934591)) COMMENT ''rises with time''',
    'ALTER TABLE {prefix}event_outbox
     MODIFY seq BIGINT UNSIGNED NOT NULL DEFAULT (((UNIX_TIMESTAMP() - 1577836800) << 33) | (UUID_SHORT() & 8589934591)) COMMENT ''rises with time'',
     ADD CONSTRAINT {prefix}event_outbox_in_shard CHECK (shard < 64),
     ADD CONSTRAINT {prefix}event_outbox_payload_size CHECK (LENGTH(payload) <= 1048576),
     ADD CONSTRAINT {prefix}event_outbox_dated CHECK (generated_at >= TIMESTAMP''1000-01-01 00:00:00'' AND inserted_at >= TIMESTAMP''1000-01-01 00:00:00''),
     ADD CONSTRAINT {prefix}event_outbox_named CHECK (id NOT REGEXP ''^$|^ | $|[[:cntrl:]]'' AND event_key NOT REGEXP ''^$|^ | $|[[:cntrl:]]''
       AND topic NOT REGEXP ''^$|[^A-Za-z0-9_./-]'')'));
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}event_seen' AND constraint_name = '{prefix}event_seen_named')
                        OR EXISTS (SELECT 1 FROM {prefix}event_seen WHERE seen_at < TIMESTAMP'1000-01-01 00:00:00'
                                   OR consumer REGEXP '^$|^ | $|[[:cntrl:]]' OR id REGEXP '^$|^ | $|[[:cntrl:]]'),
  'DO 0', 'ALTER TABLE {prefix}event_seen
     ADD CONSTRAINT {prefix}event_seen_dated CHECK (seen_at >= TIMESTAMP''1000-01-01 00:00:00''),
     ADD CONSTRAINT {prefix}event_seen_named CHECK (consumer NOT REGEXP ''^$|^ | $|[[:cntrl:]]'' AND id NOT REGEXP ''^$|^ | $|[[:cntrl:]]'')');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '{prefix}event_set_aside'
                                AND column_name = 'seq' AND column_comment = 'its number here, which is not that of event_outbox'),
  'DO 0', 'ALTER TABLE {prefix}event_set_aside MODIFY seq BIGINT UNSIGNED NOT NULL COMMENT ''its number here, which is not that of event_outbox''');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 25);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 24;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}event_seen' AND constraint_name = '{prefix}event_seen_named'),
  'ALTER TABLE {prefix}event_seen DROP CONSTRAINT {prefix}event_seen_dated, DROP CONSTRAINT {prefix}event_seen_named', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.table_constraints WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}event_outbox' AND constraint_name = '{prefix}event_outbox_named'),
  'ALTER TABLE {prefix}event_outbox DROP CONSTRAINT {prefix}event_outbox_in_shard, DROP CONSTRAINT {prefix}event_outbox_payload_size,
     DROP CONSTRAINT {prefix}event_outbox_dated, DROP CONSTRAINT {prefix}event_outbox_named', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
ALTER TABLE {prefix}event_outbox MODIFY seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT;
