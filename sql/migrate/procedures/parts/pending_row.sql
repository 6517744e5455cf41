-- The row that is pending, if there is one. In a transaction of the caller a plain read may not see the latest. A locking one does, and comes only
-- where an INSERT has met the row: one that finds nothing would lock a gap beside others.
SET v_found = NULL;
IF v_lock THEN
  SELECT job.next_check_at, job.revision, job.due_at, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND job.job_exec = p_job_exec AND job.tag = p_tag
  INTO v_found, v_revision, v_was, v_same FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = v_key FOR UPDATE;
ELSEIF NOT v_gone THEN
  IF v_own AND NOT v_begun THEN -- for the one read: nothing is to be kept that nobody has committed
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  END IF;
  SELECT job.next_check_at, job.revision, job.due_at, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND job.job_exec = p_job_exec AND job.tag = p_tag
  INTO v_found, v_revision, v_was, v_same FROM {prefix}future_job job FORCE INDEX (job_key) WHERE job.job_key = v_key;
END IF;
