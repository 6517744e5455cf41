-- CALL {prefix}put('order', '42', 'order-unshipped', '', '2026-03-01 13:00:00', '{"a": 1}', 'replace') makes a check pending, and says in the last
-- argument what becomes of one that is pending already, by the words of the client: keep, replace, earlier, later or error. A row whose slot has
-- begun is not pending in this sense: all but error replace it. Times are UTC; one that is over goes to the next open slot.
--
-- It answers with one row: did (inserted, kept or replaced), and due_at and next_check_at of the row that is pending now. The caller needs EXECUTE
-- and no other right. It works in the caller's transaction, in which a row that it does not change stays locked; without one, it tries again after
-- a deadlock. It looks without a lock, and writes by one statement, by the full primary key and revision as the Go client does: so an error, or
-- KILL QUERY, leaves nothing behind, and no transaction open.
DROP PROCEDURE IF EXISTS {prefix}put;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}put(
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_job_exec VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_tag VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_due_at DATETIME(6),
  IN p_payload LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_on_pending VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: makes a check pending, or changes the one that is'
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
  IF COALESCE(p_on_pending NOT IN ('keep', 'replace', 'earlier', 'later', 'error'), TRUE) THEN
    SET v_refused = LEFT(CONCAT('put: on pending ', COALESCE(QUOTE(LEFT(p_on_pending, 40)), 'NULL'), ': keep, replace, earlier, later or error are allowed'), 128);
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_refused;
  END IF;
  -- +file procedures/parts/put_row.sql
  SELECT v_did AS did, IF(v_did = 'kept', v_was, p_due_at) AS due_at, IF(v_did = 'kept', v_found, v_slot) AS next_check_at;
END
-- +goose StatementEnd
