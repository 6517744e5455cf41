-- CALL {prefix}pending(entity_name, entity_key) lists what is pending for an entity, by its key, for apps in other languages. By entity_name and
-- entity_key there is no index, and a SELECT that reads along all rows may lock them: MySQL asks no more for FOR SHARE than the right to SELECT.
-- So the role app-sql looks by this, which reads the rows of one entity, and locks none outside SERIALIZABLE.
DROP PROCEDURE IF EXISTS {prefix}pending;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}pending(
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  READS SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: lists the pending checks of an entity'
BEGIN
  DECLARE v_first, v_last BINARY(16);
  SET v_first = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT(CAST(p_entity_name AS BINARY), UNHEX('00'), CAST(p_entity_key AS BINARY)), 256)), 1, 12), UNHEX('00000000'));
  SET v_last = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('FFFFFFFF'));
  SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.next_check_at, job.check_count, job.error_count,
    job.put_off_count, job.last_error, job.payload, job.expires_at
  FROM {prefix}future_job job FORCE INDEX (job_key)
  WHERE job.job_key >= v_first AND job.job_key <= v_last AND job.entity_name = p_entity_name AND job.entity_key = p_entity_key
  ORDER BY job.job_key;
END
-- +goose StatementEnd
