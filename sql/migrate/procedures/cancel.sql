-- CALL {prefix}cancel('order', '42', NULL) ends what is pending for an entity as cancelled, or with a job_exec in place of NULL only what that does.
-- It answers with one row: how many it ended. The caller needs EXECUTE and no other right.
--
-- It works in the caller's transaction; without one, in one of its own, which it repeats after a deadlock. After an error nothing of it stays
-- behind. Rows are found through UNIQUE (job_key) without a lock and written by the full primary key and revision, as the Go client does, so
-- that it does not deadlock with slot runs. A last look with FOR UPDATE finds what the snapshot of the caller's transaction hides: between two
-- bookends, rows at both ends of the entity's keys, so that it locks no gap beside others.
DROP PROCEDURE IF EXISTS {prefix}cancel;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}cancel(
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_job_exec VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: cancels the pending checks of an entity'
BEGIN
  DECLARE v_first, v_last, v_key, v_end BINARY(16);
  DECLARE v_slot DATETIME;
  DECLARE v_revision BIGINT UNSIGNED;
  DECLARE v_ours, v_own, v_lock, v_missed, v_bookends BOOLEAN DEFAULT FALSE;
  DECLARE v_cancelled, v_looks, v_tries, v_error INT DEFAULT 0;

  IF p_entity_name = 'schedule' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'cancel: entity schedule is reserved for schedules, which are deleted by their own commands';
  END IF;
  -- Outside a transaction a savepoint is gone at once.
  BEGIN
    DECLARE CONTINUE HANDLER FOR 1305 SET v_own = TRUE;
    SAVEPOINT prescient_cancel;
    RELEASE SAVEPOINT prescient_cancel;
  END;
  SET v_first = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT(CAST(p_entity_name AS BINARY), UNHEX('00'), CAST(p_entity_key AS BINARY)), 256)), 1, 12), UNHEX('00000000'));
  SET v_last = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('FFFFFFFF'));
  tries: LOOP
    SET v_tries = v_tries + 1, v_error = 0, v_looks = 0, v_cancelled = 0, v_lock = FALSE;
    BEGIN
      DECLARE EXIT HANDLER FOR SQLEXCEPTION
      BEGIN
        GET DIAGNOSTICS CONDITION 1 v_error = MYSQL_ERRNO;
        BEGIN
          -- After a deadlock there is no savepoint left.
          DECLARE CONTINUE HANDLER FOR 1305 BEGIN END;
          IF v_own THEN
            ROLLBACK;
          ELSE
            ROLLBACK TO SAVEPOINT prescient_cancel;
          END IF;
        END;
        -- A transaction of its own is tried again; one of the caller is the caller's to repeat.
        IF NOT v_own OR v_error <> 1213 OR v_tries >= 10 THEN
          RESIGNAL;
        END IF;
      END;
      IF v_own THEN
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        START TRANSACTION;
      ELSE
        SAVEPOINT prescient_cancel;
      END IF;
      look: LOOP
        SET v_looks = v_looks + 1, v_missed = FALSE, v_key = v_first, v_end = v_last, v_ours = FALSE, v_bookends = v_lock AND v_first IS NOT NULL;
        IF v_bookends THEN
          BEGIN
            DECLARE CONTINUE HANDLER FOR 1062 SET v_bookends = FALSE;
            INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision)
            VALUES ('prescient', 'bookend', 'prescient.bookend', '9999-12-31', v_first, '9999-12-31', '9999-12-31', 0),
                   ('prescient', 'bookend', 'prescient.bookend', '9999-12-31', v_last, '9999-12-31', '9999-12-31', 0);
          END;
        END IF;
        IF v_bookends THEN
          SET v_key = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('00000001')), v_end = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('FFFFFFFE'));
        END IF;
        rows_of_entity: LOOP
          SET v_slot = NULL;
          IF v_lock THEN
            SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND COALESCE(job.job_exec = p_job_exec, TRUE)
            INTO v_slot, v_key, v_revision, v_ours
            FROM {prefix}future_job job FORCE INDEX (job_key)
            WHERE job.job_key >= v_key AND job.job_key <= v_end ORDER BY job.job_key LIMIT 1 FOR UPDATE;
          ELSE
            SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND COALESCE(job.job_exec = p_job_exec, TRUE)
            INTO v_slot, v_key, v_revision, v_ours
            FROM {prefix}future_job job FORCE INDEX (job_key)
            WHERE job.job_key >= v_key AND job.job_key <= v_end ORDER BY job.job_key LIMIT 1;
          END IF;
          IF v_slot IS NULL THEN
            LEAVE rows_of_entity;
          END IF;
          IF v_ours THEN
            INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
              check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
              slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
            SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.job_key, job.first_check_at, job.next_check_at,
              job.check_count, job.error_count, job.put_off_count, job.last_error, job.total_ms, job.payload, job.revision, job.inserted_at,
              job.next_check_at, 'cancelled', NULL, NULL, UTC_TIMESTAMP(6), 0, NULL, '', job.expires_at
            FROM {prefix}future_job job FORCE INDEX (PRIMARY)
            WHERE job.next_check_at = v_slot AND job.job_key = v_key AND job.revision = v_revision FOR UPDATE;
            IF ROW_COUNT() = 1 THEN
              DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
              WHERE job.next_check_at = v_slot AND job.job_key = v_key AND job.revision = v_revision;
              SET v_cancelled = v_cancelled + 1;
            ELSE
              SET v_missed = TRUE;
            END IF;
          END IF;
          IF v_key = v_end THEN
            LEAVE rows_of_entity;
          END IF;
          -- The next key: the last four bytes are a number.
          SET v_key = CONCAT(SUBSTRING(v_key, 1, 12), UNHEX(LPAD(HEX(CAST(CONV(HEX(SUBSTRING(v_key, 13)), 16, 10) AS UNSIGNED) + 1), 8, '0')));
        END LOOP;
        IF v_bookends THEN
          DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
          WHERE job.next_check_at = '9999-12-31' AND (job.job_key = v_first OR job.job_key = v_last);
        END IF;
        -- In a transaction of the caller a plain read may not see the latest rows; a locking one does.
        IF NOT v_missed AND v_lock <> v_own THEN
          LEAVE look;
        END IF;
        IF v_looks >= 10 THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'cancel: the rows of the entity changed ten times under it';
        END IF;
        SET v_lock = NOT v_own;
      END LOOP;

      IF v_own THEN
        COMMIT;
      ELSE
        RELEASE SAVEPOINT prescient_cancel;
      END IF;
    END;
    IF v_error = 0 THEN
      LEAVE tries;
    END IF;
  END LOOP;
  SELECT v_cancelled AS cancelled;
END
-- +goose StatementEnd
