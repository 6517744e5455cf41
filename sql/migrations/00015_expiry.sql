-- expires_at: from then on a check is not called any more, and ends as expired; NULL for never. History keeps it. Beside expired
-- come the ends superseded, missed, too_soon, overlapped and quota, and the books have counts of those that a slot run writes.
-- The views that leave out what was cancelled leave out what was superseded. CALL {prefix}cancel takes expires_at along into
-- history, and refuses the entity schedule.
-- Locks each table for a moment, once the transactions that have used it are over, the views and the procedure for another.
-- Copies nothing: the columns and names come last, which both servers add by ALGORITHM = INSTANT, or not at all.
-- The way back copies history, and keeps the names of outcomes there where rows have them.

-- +goose NO TRANSACTION
-- +goose Up
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND column_name = 'expires_at'),
  'DO 0', 'ALTER TABLE {prefix}future_job
     ADD COLUMN expires_at DATETIME(6) NULL COMMENT ''UTC: not called from then on; NULL for never'', ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_history' AND column_name = 'expires_at'),
  'DO 0', 'ALTER TABLE {prefix}job_history
     MODIFY outcome ENUM(''done'', ''cancelled'', ''max_checks'', ''past_return'', ''beyond_horizon'', ''failed'', ''timed_out'', ''crashed'', ''expired'', ''superseded'', ''missed'', ''too_soon'', ''overlapped'', ''quota'')
                 CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
     ADD COLUMN expires_at DATETIME(6) NULL, ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_run' AND column_name = 'expired'),
  'DO 0', 'ALTER TABLE {prefix}slot_run
     ADD COLUMN expired BIGINT UNSIGNED NOT NULL DEFAULT 0,
     ADD COLUMN missed BIGINT UNSIGNED NOT NULL DEFAULT 0,
     ADD COLUMN too_soon BIGINT UNSIGNED NOT NULL DEFAULT 0,
     ADD COLUMN overlapped BIGINT UNSIGNED NOT NULL DEFAULT 0,
     ADD COLUMN quota BIGINT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM = INSTANT');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;

-- The views that leave out cancelled jobs leave out superseded ones, too: an app put an end to both.
CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks AS
SELECT job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT job_exec, check_count, COUNT(*) AS jobs, COUNT(CASE WHEN outcome = 'max_checks' THEN 1 END) AS max_checks
      FROM {prefix}job_history WHERE outcome NOT IN ('cancelled', 'superseded') GROUP BY job_exec, check_count) counted;

CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_checks_daily AS
SELECT day, job_exec, check_count, jobs, max_checks,
       ROUND(100 * jobs / SUM(jobs) OVER (PARTITION BY day, job_exec), 2) AS percent,
       CAST(SUM(jobs) OVER (PARTITION BY day, job_exec ORDER BY check_count DESC) AS SIGNED) AS at_least
FROM (SELECT d.day, h.job_exec, h.check_count, COUNT(*) AS jobs, COUNT(CASE WHEN h.outcome = 'max_checks' THEN 1 END) AS max_checks
      FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
      WHERE h.outcome NOT IN ('cancelled', 'superseded') GROUP BY d.day, h.job_exec, h.check_count) counted;

CREATE OR REPLACE SQL SECURITY INVOKER VIEW {prefix}history_not_yet AS
SELECT d.day, h.job_exec, COUNT(*) AS jobs,
       COUNT(CASE WHEN h.outcome = 'done' AND h.check_count = 0 THEN 1 END) AS at_once,
       COUNT(CASE WHEN h.outcome = 'done' AND h.check_count > 0 THEN 1 END) AS later,
       COUNT(CASE WHEN h.outcome = 'max_checks' THEN 1 END) AS never,
       COUNT(CASE WHEN h.outcome NOT IN ('done', 'max_checks') THEN 1 END) AS unknown_end,
       CAST(SUM(h.check_count + (h.outcome = 'max_checks')) AS SIGNED) AS not_yet,
       ROUND(100 * COUNT(CASE WHEN h.check_count > 0 OR h.outcome = 'max_checks' THEN 1 END) / COUNT(*), 2) AS percent_not_at_once
FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
WHERE h.outcome NOT IN ('cancelled', 'superseded')
GROUP BY d.day, h.job_exec;

DROP PROCEDURE IF EXISTS {prefix}cancel;

-- +goose StatementBegin
CREATE PROCEDURE {prefix}cancel(
  IN p_entity_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_entity_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_job_exec VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: cancels the pending checks of an entity'
BEGIN
  DECLARE v_first, v_last, v_key, v_end BINARY(16);
  DECLARE v_slot DATETIME;
  DECLARE v_revision BIGINT UNSIGNED;
  DECLARE v_ours, v_own, v_lock, v_missed, v_bookends BOOLEAN DEFAULT FALSE;
  DECLARE v_cancelled, v_looks, v_tries, v_error INT DEFAULT 0;

  IF p_entity_name = 'schedule' THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'cancel: entity schedule is reserved for schedules, which are deleted by their own commands';
  END IF;
  -- Outside a transaction a savepoint is gone at once.
  BEGIN
    DECLARE CONTINUE HANDLER FOR 1305 SET v_own = TRUE;
    SAVEPOINT prescient_cancel;
    RELEASE SAVEPOINT prescient_cancel;
  END;
  SET v_first = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT(CAST(p_entity_name AS BINARY), UNHEX('00'), CAST(p_entity_key AS BINARY)), 256)), 1, 12), UNHEX('00000000'));
  SET v_last = CONCAT(SUBSTRING(v_first, 1, 12), UNHEX('FFFFFFFF'));
  tries: LOOP
    SET v_tries = v_tries + 1, v_error = 0, v_looks = 0, v_cancelled = 0, v_lock = FALSE;
    BEGIN
      DECLARE EXIT HANDLER FOR SQLEXCEPTION
      BEGIN
        GET DIAGNOSTICS CONDITION 1 v_error = MYSQL_ERRNO;
        BEGIN
          -- After a deadlock there is no savepoint left.
          DECLARE CONTINUE HANDLER FOR 1305 BEGIN END;
          IF v_own THEN
            ROLLBACK;
          ELSE
            ROLLBACK TO SAVEPOINT prescient_cancel;
          END IF;
        END;
        -- A transaction of its own is tried again; one of the caller is the caller's to repeat.
        IF NOT v_own OR v_error <> 1213 OR v_tries >= 10 THEN
          RESIGNAL;
        END IF;
      END;
      IF v_own THEN
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
        START TRANSACTION;
      ELSE
        SAVEPOINT prescient_cancel;
      END IF;
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
            SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND COALESCE(job.job_exec = p_job_exec, TRUE)
            INTO v_slot, v_key, v_revision, v_ours
            FROM {prefix}future_job job FORCE INDEX (job_key)
            WHERE job.job_key >= v_key AND job.job_key <= v_end ORDER BY job.job_key LIMIT 1 FOR UPDATE;
          ELSE
            SELECT job.next_check_at, job.job_key, job.revision, job.entity_name = p_entity_name AND job.entity_key = p_entity_key AND COALESCE(job.job_exec = p_job_exec, TRUE)
            INTO v_slot, v_key, v_revision, v_ours
            FROM {prefix}future_job job FORCE INDEX (job_key)
            WHERE job.job_key >= v_key AND job.job_key <= v_end ORDER BY job.job_key LIMIT 1;
          END IF;
          IF v_slot IS NULL THEN
            LEAVE rows_of_entity;
          END IF;
          IF v_ours THEN
            INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
              check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
              slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
            SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.job_key, job.first_check_at, job.next_check_at,
              job.check_count, job.error_count, job.put_off_count, job.last_error, job.total_ms, job.payload, job.revision, job.inserted_at,
              job.next_check_at, 'cancelled', NULL, NULL, UTC_TIMESTAMP(6), 0, NULL, '', job.expires_at
            FROM {prefix}future_job job FORCE INDEX (PRIMARY)
            WHERE job.next_check_at = v_slot AND job.job_key = v_key AND job.revision = v_revision FOR UPDATE;
            IF ROW_COUNT() = 1 THEN
              DELETE job FROM {prefix}future_job job FORCE INDEX (PRIMARY)
              WHERE job.next_check_at = v_slot AND job.job_key = v_key AND job.revision = v_revision;
              SET v_cancelled = v_cancelled + 1;
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
        IF NOT v_missed AND v_lock <> v_own THEN
          LEAVE look;
        END IF;
        IF v_looks >= 10 THEN
          SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'cancel: the rows of the entity changed ten times under it';
        END IF;
        SET v_lock = NOT v_own;
      END LOOP;

      IF v_own THEN
        COMMIT;
      ELSE
        RELEASE SAVEPOINT prescient_cancel;
      END IF;
    END;
    IF v_error = 0 THEN
      LEAVE tries;
    END IF;
  END LOOP;
  SELECT v_cancelled AS cancelled;
END
-- +goose StatementEnd

UPDATE {prefix}slot_config SET schema_version = GREATEST(schema_version, 15);

-- +goose Down
UPDATE {prefix}slot_config SET schema_version = 14;
DROP PROCEDURE IF EXISTS {prefix}cancel;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}slot_run' AND column_name = 'expired'),
  'ALTER TABLE {prefix}slot_run
     DROP COLUMN expired, DROP COLUMN missed, DROP COLUMN too_soon, DROP COLUMN overlapped, DROP COLUMN quota', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}job_history' AND column_name = 'expires_at'),
  'ALTER TABLE {prefix}job_history DROP COLUMN expires_at', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM {prefix}job_history WHERE outcome IN ('expired', 'superseded', 'missed', 'too_soon', 'overlapped', 'quota')),
  'DO 0', 'ALTER TABLE {prefix}job_history MODIFY outcome ENUM(''done'', ''cancelled'', ''max_checks'', ''past_return'', ''beyond_horizon'', ''failed'', ''timed_out'', ''crashed'')
                 CHARACTER SET ascii COLLATE ascii_bin NOT NULL');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
SET @prescient_ddl = IF(EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()
                                AND table_name = '{prefix}future_job' AND column_name = 'expires_at'),
  'ALTER TABLE {prefix}future_job DROP COLUMN expires_at', 'DO 0');
PREPARE prescient_step FROM @prescient_ddl;
EXECUTE prescient_step;
DEALLOCATE PREPARE prescient_step;
