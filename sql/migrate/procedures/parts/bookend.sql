-- The snapshot may be older than the row, and a locking read that finds none would lock a gap beside others: a bookend takes the key.
BEGIN
  DECLARE CONTINUE HANDLER FOR 1062 SET v_missed = TRUE;
  INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision)
  VALUES ('prescient', 'bookend', 'prescient.bookend', '9999-12-31', v_key, '9999-12-31', '9999-12-31', 0);
END;
IF NOT v_missed THEN
  DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY) WHERE job.next_check_at = '9999-12-31' AND job.job_key = v_key;
END IF;
