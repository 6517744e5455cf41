-- CALL {prefix}happened('order.placed', 'order', '42', '2026-03-01 10:00:00', '{"a": 1}') reports an occasion: what happened, to which entity, when (UTC),
-- and data, a JSON object or NULL. Each rule that the occasion ends has its pending check of that entity cancelled; then each that is on, and is of this
-- occasion, and was on when it happened, has its check made, or what the rule says done with the one that is pending. An occasion of which no rule
-- knows does nothing.
--
-- It answers with one row: made, kept and ended, how many checks were inserted or replaced, left as they are, and cancelled. The caller needs EXECUTE and
-- no other right. It works in the caller's transaction; without one, in one of its own, which it repeats after a deadlock. After an error nothing of
-- it stays behind; for KILL QUERY see cancel. It locks no rule, unless the transaction is SERIALIZABLE: a rule that is changed meanwhile is met as
-- the transaction's snapshot has it, and the check moves later.
DROP PROCEDURE IF EXISTS {prefix}happened;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}happened(
  IN p_occasion VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_at DATETIME(6),
  IN p_data LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: reports an occasion, for which rules make and end checks'
BEGIN
  -- What the parts know by the names of put's parameters.
  DECLARE p_job_exec, p_tag, p_on_pending VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE p_due_at, v_expires DATETIME(6);
  DECLARE p_payload LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
  DECLARE v_rule VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE v_after VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  DECLARE v_version, v_delay, v_spread, v_expires_after BIGINT UNSIGNED;
  DECLARE v_key BINARY(16);
  DECLARE v_now, v_was DATETIME(6);
  DECLARE v_slot, v_found DATETIME;
  DECLARE v_seconds BIGINT;
  DECLARE v_revision BIGINT UNSIGNED;
  DECLARE v_own, v_lock, v_gone, v_same, v_missed BOOLEAN DEFAULT FALSE;
  DECLARE v_begun BOOLEAN DEFAULT TRUE;
  DECLARE v_looks, v_tries, v_error, v_made, v_kept, v_ended INT DEFAULT 0;
  DECLARE v_did VARCHAR(16) CHARACTER SET ascii;
  DECLARE v_refused VARCHAR(512) CHARACTER SET utf8mb4;

  IF p_occasion IS NULL OR p_entity_name IS NULL OR p_entity_key IS NULL OR p_at IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: occasion, entity name and key, and when it happened are needed';
  END IF;
  IF p_occasion = '' OR CHAR_LENGTH(p_occasion) > 64 OR p_occasion REGEXP '[^A-Za-z0-9_.-]' THEN
    SET v_refused = LEFT(CONCAT('happened: occasion ', QUOTE(LEFT(p_occasion, 40)), ': 1 to 64 letters, digits and _ . - are allowed'), 128);
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_refused;
  END IF;
  IF LOWER(p_entity_name) = 'schedule' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: entity schedule is reserved for schedules';
  END IF;
  IF p_at < TIMESTAMP'1000-01-01 00:00:00' OR p_at > UTC_TIMESTAMP(6) + INTERVAL 3660 DAY THEN
    SET v_refused = CONCAT('happened: at ', p_at, ': a time from 1000-01-01 to ten years ahead is allowed');
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_refused;
  END IF;
  IF p_data IS NOT NULL AND NOT COALESCE(JSON_VALID(p_data), FALSE) THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: data is to be a JSON object, or NULL';
  END IF;
  IF p_data IS NOT NULL AND JSON_TYPE(p_data) <> 'OBJECT' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: data is to be a JSON object, or NULL';
  END IF;
  -- Outside a transaction a savepoint is gone at once.
  BEGIN
    DECLARE CONTINUE HANDLER FOR 1305 SET v_own = TRUE;
    SAVEPOINT prescient_happened;
    RELEASE SAVEPOINT prescient_happened;
  END;
  tries: LOOP
    SET v_tries = v_tries + 1, v_error = 0, v_made = 0, v_kept = 0, v_ended = 0, v_after = '';
    BEGIN
      -- +file procedures/parts/begin.sql
      -- The rules that it ends, by their names, whatever their state: what they have left pending is over.
      ends: LOOP
        SET v_rule = NULL;
        SELECT rule.name, rule.job_exec INTO v_rule, p_job_exec
        FROM {prefix}rule rule FORCE INDEX (PRIMARY) JOIN {prefix}rule_version says ON says.rule = rule.name AND says.version = rule.version
        WHERE rule.name > v_after AND FIND_IN_SET(p_occasion, says.ends) > 0 ORDER BY rule.name LIMIT 1;
        IF v_rule IS NULL THEN
          LEAVE ends;
        END IF;
        SET v_after = v_rule, p_tag = CONCAT('rule:', v_rule), v_looks = 0, v_lock = FALSE, v_gone = FALSE;
        -- +file procedures/parts/key.sql
        end_one: LOOP
          SET v_looks = v_looks + 1, v_missed = FALSE;
          -- +file procedures/parts/pending_row.sql
          IF v_found IS NULL AND NOT v_own AND NOT v_lock THEN
            -- +file procedures/parts/bookend.sql
            SET v_gone = FALSE, v_lock = v_missed;
          ELSEIF v_found IS NOT NULL AND v_same THEN
            SET v_slot = v_found;
            -- +file procedures/parts/copy_end.sql
            IF ROW_COUNT() = 1 THEN
              DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
              WHERE job.next_check_at = v_found AND job.job_key = v_key AND job.revision = v_revision;
              SET v_ended = v_ended + 1;
            ELSE
              SET v_missed = TRUE;
            END IF;
            SET v_gone = v_missed AND NOT v_own;
          END IF;
          IF NOT v_missed THEN
            LEAVE end_one;
          END IF;
          IF v_looks >= 10 THEN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: the check that it ends changed ten times under it';
          END IF;
        END LOOP;
      END LOOP;
      SET v_after = '';
      makes: LOOP
        SET v_rule = NULL;
        SELECT rule.name, rule.job_exec, says.version, says.delay, says.spread, says.expires_after, says.on_pending,
          CASE WHEN says.payload IS NULL THEN p_data WHEN p_data IS NULL THEN says.payload ELSE JSON_MERGE_PATCH(says.payload, JSON_MERGE_PATCH('{}', p_data)) END
        INTO v_rule, p_job_exec, v_version, v_delay, v_spread, v_expires_after, p_on_pending, p_payload
        FROM {prefix}rule rule FORCE INDEX (PRIMARY) JOIN {prefix}rule_version says ON says.rule = rule.name AND says.version = rule.version
        WHERE rule.name > v_after AND rule.occasion = p_occasion AND rule.state = 'on' AND rule.since <= p_at ORDER BY rule.name LIMIT 1;
        IF v_rule IS NULL THEN
          LEAVE makes;
        END IF;
        SET v_after = v_rule, p_tag = CONCAT('rule:', v_rule), v_looks = 0, v_lock = FALSE, v_gone = FALSE;
        -- +file procedures/parts/key.sql
        -- The place in the spread: a number of the key's is to 2 to the 64 as that is to the spread, in nanoseconds.
        SET p_due_at = p_at + INTERVAL v_delay SECOND + INTERVAL
          CAST(CAST((CAST(CONV(HEX(SUBSTRING(v_key, 5, 8)), 16, 10) AS UNSIGNED) ^ (CAST(CONV(HEX(SUBSTRING(v_key, 13)), 16, 10) AS UNSIGNED) << 32)) AS DECIMAL(20))
            * CAST(v_spread * 1000000000 AS DECIMAL(20)) DIV CAST('18446744073709551616' AS DECIMAL(20)) AS UNSIGNED) DIV 1000 MICROSECOND;
        SET v_expires = p_due_at + INTERVAL v_expires_after SECOND;
        -- +file procedures/parts/put_row.sql
        SET v_made = v_made + (v_did <> 'kept'), v_kept = v_kept + (v_did = 'kept');
      END LOOP;
      IF v_own THEN
        COMMIT;
      ELSE
        RELEASE SAVEPOINT prescient_happened;
      END IF;
    END;
    IF v_error = 0 THEN
      LEAVE tries;
    END IF;
  END LOOP;
  SELECT v_made AS made, v_kept AS kept, v_ended AS ended;
END
-- +goose StatementEnd
