-- What CALL cancel does, behind check.sql: ends what is pending for an entity as cancelled; @job_exec is NULL, or ends only what that does.
-- The role app is enough.
--
-- A DELETE alone would break what is promised: a check that is pending no more has one end in history, which copy writes in the same
-- transaction; and by the key alone it would take away what somebody has put in the row's place since, unread. So nothing is deleted that
-- was not copied:
--   look; for each row: seen, copy, and where that wrote one row, gone. Where it wrote none, somebody was faster: look again.
-- Under REPEATABLE READ the snapshot may be older than a row. So then:
--   ends, lock, away; for each row of lock: seen, copy, gone
--
-- look:
SELECT HEX(job_key) AS hex, CAST(next_check_at AS CHAR) AS was, CAST(revision AS CHAR) AS revision
FROM future_job FORCE INDEX (job_key)
WHERE job_key BETWEEN @first AND @last AND entity_name = @entity_name AND entity_key = @entity_key
  AND COALESCE(job_exec = @job_exec, TRUE)
ORDER BY job_key;

-- seen: the row as look or lock gave it, as text.
SET @seen = UNHEX(?), @was = ?, @revision = ?;

-- copy:
INSERT INTO job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count,
  put_off_count, last_error, total_ms, payload, revision, inserted_at, slot, outcome, started_at, ended_at, run_ms, lateness_ms, worker,
  expires_at)
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count,
  put_off_count, last_error, total_ms, payload, revision, inserted_at, next_check_at, 'cancelled', NULL, UTC_TIMESTAMP(6), 0, NULL, '',
  expires_at
FROM future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = CAST(@was AS DATETIME) AND job_key = @seen AND revision = CAST(@revision AS UNSIGNED) FOR UPDATE;

-- gone:
DELETE job FROM future_job job FORCE INDEX (PRIMARY)
WHERE job.next_check_at = CAST(@was AS DATETIME) AND job.job_key = @seen AND job.revision = CAST(@revision AS UNSIGNED);

-- ends: rows for lock to end at: without them it also locks the next row, which is another entity's and could not end before the app
-- commits.
INSERT INTO future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision, inserted_at)
VALUES ('prescient', 'bookend', 'prescient.bookend', '9999-12-31', @first, '9999-12-31', '9999-12-31', 0, UTC_TIMESTAMP(6)),
  ('prescient', 'bookend', 'prescient.bookend', '9999-12-31', @last, '9999-12-31', '9999-12-31', 0, UTC_TIMESTAMP(6));

-- lock:
SELECT HEX(job_key) AS hex, CAST(next_check_at AS CHAR) AS was, CAST(revision AS CHAR) AS revision
FROM future_job FORCE INDEX (job_key)
WHERE job_key BETWEEN @first AND @last AND job_key > @first AND job_key < @last
  AND entity_name = @entity_name AND entity_key = @entity_key AND COALESCE(job_exec = @job_exec, TRUE)
ORDER BY job_key FOR UPDATE;

-- away:
DELETE job FROM future_job job FORCE INDEX (PRIMARY) WHERE job.next_check_at = '9999-12-31' AND job.job_key IN (@first, @last);
