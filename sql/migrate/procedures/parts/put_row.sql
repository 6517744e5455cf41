-- Makes a check pending, or does with the one that is what the policy says.
look: LOOP
  SET v_looks = v_looks + 1, v_missed = FALSE;
  BEGIN
    -- +file procedures/parts/deadlock.sql -- only put
    -- +file procedures/parts/pending_row.sql
    IF v_found IS NOT NULL AND v_same AND p_on_pending <> 'replace' AND NOT v_own AND NOT v_lock THEN -- the snapshot may be older than the row
      SELECT COUNT(*) = 0 INTO v_missed FROM (SELECT job.revision FROM {prefix}future_job job FORCE INDEX (PRIMARY)
        WHERE job.next_check_at = v_found AND job.job_key = v_key AND job.revision = v_revision FOR UPDATE) one;
    END IF;
    -- After what may have waited.
    -- +file procedures/parts/place.sql
    IF v_missed THEN
      SET v_gone = TRUE;
    ELSEIF v_found IS NULL THEN
      BEGIN
        DECLARE CONTINUE HANDLER FOR 1062 SET v_missed = TRUE;
        INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload) -- only put
        VALUES (p_entity_name, p_entity_key, p_job_exec, p_tag, p_due_at, v_key, v_slot, v_slot, p_payload); -- only put
        INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload, expires_at, rule_version, occasion_at) -- only happened
        VALUES (p_entity_name, p_entity_key, p_job_exec, p_tag, p_due_at, v_key, v_slot, v_slot, p_payload, v_expires, v_version, p_at); -- only happened
      END;
      SET v_did = 'inserted', v_gone = FALSE, v_lock = v_missed AND NOT v_own;
    ELSEIF NOT v_same THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'put: another check has the same job_key'; -- only put
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: another check has the same job_key'; -- only happened
    ELSEIF p_on_pending = 'error' THEN -- only put
      SET v_refused = LEFT(CONCAT('put: it is pending already, due at ', v_was, ': ', p_job_exec, ' of ', p_entity_name, '/', p_entity_key), 128); -- only put
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_refused; -- only put
    ELSEIF v_found > v_now AND (p_on_pending = 'keep' OR p_on_pending = 'earlier' AND p_due_at >= v_was OR p_on_pending = 'later' AND p_due_at <= v_was) THEN
      SET v_did = 'kept';
    ELSE
      UPDATE {prefix}future_job FORCE INDEX (PRIMARY)
      SET due_at = p_due_at, first_check_at = v_slot, next_check_at = v_slot, payload = p_payload, check_count = 0, error_count = 0,
          put_off_count = 0, last_error = NULL, total_ms = 0, inserted_at = UTC_TIMESTAMP(6), revision = UUID_SHORT(), trace = NULL,
          expires_at = NULL, rule_version = NULL, occasion_at = NULL -- only put
          expires_at = v_expires, rule_version = v_version, occasion_at = p_at -- only happened
      WHERE next_check_at = v_found AND job_key = v_key AND revision = v_revision;
      SET v_missed = ROW_COUNT() = 0, v_did = 'replaced';
      SET v_gone = v_missed AND NOT v_own;
    END IF;
  END;
  IF NOT v_missed THEN
    LEAVE look;
  END IF;
  IF v_looks >= 10 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'put: the pending check changed ten times under it'; -- only put
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'happened: the pending check changed ten times under it'; -- only happened
  END IF;
END LOOP;
