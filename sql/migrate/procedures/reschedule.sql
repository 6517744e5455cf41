-- CALL {prefix}reschedule('order', '42', 'order-unshipped', '', '2026-03-01 17:00:00') moves a pending check to another time, in UTC; its counts and
-- payload stay, and it expires as long after it is due as before. A time that is over goes to the next open slot.
-- It may go however far: a horizon is a guard of programs, which the Go client and the commands hold. Plain SQL has none, in an INSERT and put
-- neither: one here alone would hold nothing.
--
-- It answers with one row: did (rescheduled, or absent where no such check is pending), and the due_at and next_check_at that it has now. For rights
-- and transactions see put. A change that commits while the job_exec runs wins: the answer of that call is dropped.
DROP PROCEDURE IF EXISTS {prefix}reschedule;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}reschedule(
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_job_exec VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_tag VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_due_at DATETIME(6))
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: moves a pending check to another time'
BEGIN
  DECLARE v_key BINARY(16);
  DECLARE v_now, v_was DATETIME(6);
  DECLARE v_slot, v_found DATETIME;
  DECLARE v_seconds BIGINT;
  DECLARE v_revision BIGINT UNSIGNED;
  DECLARE v_own, v_begun, v_lock, v_gone, v_same, v_missed BOOLEAN DEFAULT FALSE;
  DECLARE v_looks INT DEFAULT 0;
  DECLARE v_did VARCHAR(16) CHARACTER SET ascii;
  DECLARE v_refused VARCHAR(512) CHARACTER SET utf8mb4;

  -- +file procedures/parts/named.sql
  look: LOOP
    SET v_looks = v_looks + 1, v_missed = FALSE, v_did = 'absent';
    BEGIN
      -- +file procedures/parts/deadlock.sql
      -- +file procedures/parts/pending_row.sql
      -- After what may have waited.
      -- +file procedures/parts/place.sql
      IF v_found IS NULL AND NOT v_own AND NOT v_lock THEN
        -- +file procedures/parts/bookend.sql
        SET v_gone = FALSE, v_lock = v_missed;
      ELSEIF v_found IS NOT NULL AND v_same THEN
        -- expires_at comes first: it goes by the due_at that was.
        UPDATE {prefix}future_job FORCE INDEX (PRIMARY)
        SET expires_at = IF(expires_at IS NULL, NULL, COALESCE(p_due_at + INTERVAL TIMESTAMPDIFF(MICROSECOND, due_at, expires_at) MICROSECOND, TIMESTAMP'9999-12-31 23:59:59')),
            due_at = p_due_at, next_check_at = v_slot, revision = UUID_SHORT()
        WHERE next_check_at = v_found AND job_key = v_key AND revision = v_revision;
        SET v_missed = ROW_COUNT() = 0, v_did = 'rescheduled';
        SET v_gone = v_missed AND NOT v_own;
      END IF;
    END;
    IF NOT v_missed THEN
      LEAVE look;
    END IF;
    IF v_looks >= 10 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'reschedule: the pending check changed ten times under it';
    END IF;
  END LOOP;
  SELECT v_did AS did, IF(v_did = 'absent', NULL, p_due_at) AS due_at, IF(v_did = 'absent', NULL, v_slot) AS next_check_at;
END
-- +goose StatementEnd
