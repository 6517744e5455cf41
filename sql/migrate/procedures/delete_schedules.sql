-- CALL {prefix}delete_schedules(owner_name, owner_key) deletes all schedules of an owner, with their timers and runs, which end as cancelled; in the
-- caller's transaction, or in one of its own. It answers with one row: how many it deleted. The caller needs EXECUTE and no other right.
-- It ends the rows of a schedule as CALL {prefix}cancel ends those of an entity in the caller's transaction, and leaves an entry of the audit for each.
-- For KILL QUERY see cancel.
DROP PROCEDURE IF EXISTS {prefix}delete_schedules;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}delete_schedules(
  IN p_owner_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_owner_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: deletes the schedules of an owner'
BEGIN
  DECLARE v_id, v_after VARCHAR(128) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT '';
  -- As the column is: a comparison with the parameter would not go by the index.
  DECLARE v_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin DEFAULT p_owner_name;
  DECLARE v_first, v_last, v_key, v_end BINARY(16);
  DECLARE v_slot DATETIME;
  DECLARE v_revision BIGINT UNSIGNED;
  DECLARE v_ours, v_own, v_lock, v_missed, v_bookends, v_refused BOOLEAN DEFAULT FALSE;
  DECLARE v_deleted, v_looks, v_tries, v_error INT DEFAULT 0;
  DECLARE v_version BIGINT UNSIGNED;
  DECLARE v_created, v_fired DATETIME(6);
  DECLARE v_state MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

  IF LENGTH(COALESCE(p_owner_name, '')) = 0 OR LENGTH(COALESCE(p_owner_key, '')) = 0 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'delete_schedules: the name and the key of an owner are needed';
  END IF;
  -- Outside a transaction a savepoint is gone at once.
  BEGIN
    DECLARE CONTINUE HANDLER FOR 1305 SET v_own = TRUE;
    SAVEPOINT prescient_delete;
    RELEASE SAVEPOINT prescient_delete;
  END;
  tries: LOOP
    SET v_tries = v_tries + 1, v_error = 0, v_deleted = 0, v_after = '';
    BEGIN
      -- +file procedures/parts/begin.sql
      each_schedule: LOOP
        SET v_id = NULL;
        SELECT one.id, one.disabled_at IS NOT NULL INTO v_id, v_refused FROM {prefix}schedule one FORCE INDEX (owner)
        WHERE one.owner_name = v_name AND one.owner_key = p_owner_key AND one.id > v_after ORDER BY one.id LIMIT 1 FOR UPDATE;
        IF v_id IS NULL THEN
          LEAVE each_schedule;
        END IF;
        SET v_looks = 0, v_lock = FALSE,
            v_first = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), CAST(v_id AS BINARY)), 256)), 1, 12), UNHEX('00000000'));
        SET v_last = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('FFFFFFFF'));
        -- +file procedures/parts/end_rows.sql

        SELECT JSON_OBJECT('crontabs', one.crontabs, 'zone', one.zone, 'job_exec', one.job_exec, 'topic', one.topic,
                           'owner', CONCAT(one.owner_name, '/', one.owner_key),
                           'payload_bytes', LENGTH(one.payload), 'payload_sha256', LOWER(SHA2(one.payload, 256)),
                           'catch_up', CAST(one.catch_up AS CHAR), 'catch_up_within', one.catch_up_within, 'expires_after', one.expires_after,
                           'jitter', one.jitter, 'may_coalesce', one.may_coalesce, 'long', one.is_long, 'overlap', CAST(one.overlap AS CHAR),
                           'tolerance', one.tolerance, 'quota', one.quota, 'pool', one.pool, 'heartbeat', one.heartbeat, 'enabled', one.enabled, 'disabled_reason', one.disabled_reason),
          one.version, one.created_at, IF(one.updated_at > UTC_TIMESTAMP(6) AND one.updated_at <= UTC_TIMESTAMP(6) + INTERVAL 1 DAY, one.updated_at, UTC_TIMESTAMP(6))
        INTO v_state, v_version, v_created, v_fired FROM {prefix}schedule one FORCE INDEX (PRIMARY) WHERE one.id = v_id FOR UPDATE;
        INSERT INTO {prefix}schedule_version (schedule, created_at, version, ended_at, crontabs, zone, payload, job_exec, topic, owner_name, owner_key,
          catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat)
        SELECT one.id, one.created_at, one.version, UTC_TIMESTAMP(6), one.crontabs, one.zone, one.payload, one.job_exec, one.topic, one.owner_name,
          one.owner_key, one.catch_up, one.catch_up_within, one.expires_after, one.jitter, one.may_coalesce, one.is_long, one.overlap, one.tolerance,
          one.quota, one.pool, one.heartbeat
        FROM {prefix}schedule one FORCE INDEX (PRIMARY) WHERE one.id = v_id ON DUPLICATE KEY UPDATE ended_at = VALUES(ended_at);
        DELETE FROM {prefix}schedule WHERE id = v_id;
        IF v_refused THEN
          DELETE FROM {prefix}schedule_refused WHERE schedule_id = v_id;
        END IF;
        INSERT INTO {prefix}schedule_deleted (id, fired_until) VALUES (v_id, v_fired) ON DUPLICATE KEY UPDATE
          fired_until = IF(fired_until > VALUES(fired_until) + INTERVAL 1 DAY, VALUES(fired_until), GREATEST(fired_until, VALUES(fired_until)));
        INSERT INTO {prefix}audit_log (stream, kind, id, verb, version, incarnation, command, before_change)
        VALUES (SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), CAST(v_id AS BINARY)), 256)), 1, 16), 'schedule', v_id, 'delete',
          v_version + 1, v_created, 'CALL delete_schedules', v_state);
        SET v_deleted = v_deleted + 1, v_after = v_id;
      END LOOP;
      IF v_own THEN
        COMMIT;
      ELSE
        RELEASE SAVEPOINT prescient_delete;
      END IF;
    END;
    IF v_error = 0 THEN
      LEAVE tries;
    END IF;
  END LOOP;
  SELECT v_deleted AS deleted;
END
-- +goose StatementEnd
