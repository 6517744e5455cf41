-- CALL {prefix}ended(entity_name, entity_key) lists how the checks of an entity ended, the latest first, a hundred at most: for apps in other
-- languages, which see of history nothing else. It reads the entries of one entity, and locks none outside SERIALIZABLE.
DROP PROCEDURE IF EXISTS {prefix}ended;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}ended(
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  READS SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: lists how the checks of an entity ended'
BEGIN
  DECLARE v_first, v_last BINARY(16);
  SET v_first = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT(CAST(p_entity_name AS BINARY), UNHEX('00'), CAST(p_entity_key AS BINARY)), 256)), 1, 12), UNHEX('00000000'));
  SET v_last = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('FFFFFFFF'));
  SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.slot, job.outcome, job.error, job.check_count, job.started_at, job.ended_at
  FROM (SELECT one.ended_at, one.job_key, one.revision FROM {prefix}job_history one FORCE INDEX (job_key)
        WHERE one.job_key >= v_first AND one.job_key <= v_last AND one.entity_name = p_entity_name AND one.entity_key = p_entity_key
        ORDER BY one.ended_at DESC, one.job_key DESC LIMIT 100) page
    STRAIGHT_JOIN {prefix}job_history job ON job.ended_at = page.ended_at AND job.job_key = page.job_key AND job.revision = page.revision
  ORDER BY page.ended_at DESC, page.job_key DESC;
END
-- +goose StatementEnd
