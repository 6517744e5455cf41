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
      SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND COALESCE(job.job_exec = p_job_exec, TRUE) -- only cancel
      SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = 'schedule' AND job.entity_key = v_id -- only delete_schedules
      INTO v_slot, v_key, v_revision, v_ours
      FROM {prefix}future_job job FORCE INDEX (job_key)
      WHERE job.job_key >= v_key AND job.job_key <= v_end ORDER BY job.job_key LIMIT 1 FOR UPDATE;
    ELSE
      SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND COALESCE(job.job_exec = p_job_exec, TRUE) -- only cancel
      SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = 'schedule' AND job.entity_key = v_id -- only delete_schedules
      INTO v_slot, v_key, v_revision, v_ours
      FROM {prefix}future_job job FORCE INDEX (job_key)
      WHERE job.job_key >= v_key AND job.job_key <= v_end ORDER BY job.job_key LIMIT 1;
    END IF;
    IF v_slot IS NULL THEN
      LEAVE rows_of_entity;
    END IF;
    IF v_ours THEN
      -- +file procedures/parts/copy_end.sql
      IF ROW_COUNT() = 1 THEN
        DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
        WHERE job.next_check_at = v_slot AND job.job_key = v_key AND job.revision = v_revision;
        SET v_cancelled = v_cancelled + 1; -- only cancel
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
  IF NOT v_missed AND v_lock <> v_own THEN -- only cancel
  IF NOT v_missed AND v_lock THEN -- only delete_schedules
    LEAVE look;
  END IF;
  IF v_looks >= 10 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'cancel: the rows of the entity changed ten times under it'; -- only cancel
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'delete_schedules: the rows of a schedule changed ten times under it'; -- only delete_schedules
  END IF;
  SET v_lock = NOT v_own; -- only cancel
  SET v_lock = TRUE; -- only delete_schedules
END LOOP;
