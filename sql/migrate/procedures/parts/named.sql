IF p_entity_name = 'schedule' THEN
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'put: entity schedule is reserved for schedules'; -- only put
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'reschedule: entity schedule is reserved for schedules'; -- only reschedule
END IF;
IF p_entity_name IS NULL OR p_entity_key IS NULL OR p_job_exec IS NULL OR p_tag IS NULL OR p_due_at IS NULL THEN
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'put: entity name and key, job_exec, tag and due_at are needed; a tag may be empty'; -- only put
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'reschedule: entity name and key, job_exec, tag and due_at are needed; a tag may be empty'; -- only reschedule
END IF;
-- Also what a lax sql_mode has made of something else.
IF p_due_at < TIMESTAMP'1000-01-01 00:00:00' OR p_due_at > TIMESTAMP'9999-12-30 00:00:00' THEN
  SET v_refused = CONCAT('put: due_at ', p_due_at, ': a time from 1000-01-01 to 9999-12-30 is allowed'); -- only put
  SET v_refused = CONCAT('reschedule: due_at ', p_due_at, ': a time from 1000-01-01 to 9999-12-30 is allowed'); -- only reschedule
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = v_refused;
END IF;
-- Outside a transaction a savepoint is gone at once.
BEGIN
  DECLARE CONTINUE HANDLER FOR 1305 SET v_own = TRUE;
  SAVEPOINT prescient_put; -- only put
  RELEASE SAVEPOINT prescient_put; -- only put
  SAVEPOINT prescient_reschedule; -- only reschedule
  RELEASE SAVEPOINT prescient_reschedule; -- only reschedule
END;
-- +file procedures/parts/key.sql
