-- CALL {prefix}cancel('order', '42', NULL) ends what is pending for an entity as cancelled, or with a job_exec in place of NULL only what that does.
-- It answers with one row: how many it ended. The caller needs EXECUTE and no other right.
--
-- It works in the caller's transaction; without one, in one of its own, which it repeats after a deadlock. After an error nothing of it stays
-- behind. KILL QUERY is no error that it could catch: MySQL then leaves its transaction open, and the caller has to ROLLBACK.
--
-- Rows are found through UNIQUE (job_key) without a lock and written by the full primary key and revision, as the Go client does, so that it does
-- not deadlock with slot runs. A last look with FOR UPDATE finds what the snapshot of the caller's transaction hides: between two bookends, rows at
-- both ends of the entity's keys, so that it locks no gap beside others.
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
      -- +file procedures/parts/begin.sql
      -- +file procedures/parts/end_rows.sql

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
