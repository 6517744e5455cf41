-- What CALL reschedule does, behind check.sql: moves a pending check; its counts and payload stay, and it expires as long after it is due
-- as before. The role app-reschedule is enough.
--
--   look; a row: seen, move            no row: absent, and without an error away: no such check is pending
-- Where move changes no row, or absent fails with 1062, look with FOR UPDATE at the end, and go on from there. READ COMMITTED needs no
-- absent.
--
-- look:
SELECT CAST(next_check_at AS CHAR) AS was, CAST(revision AS CHAR) AS revision
FROM future_job FORCE INDEX (job_key)
WHERE job_key = @job_key AND entity_name = @entity_name AND entity_key = @entity_key AND job_exec = @job_exec AND tag = @tag;

-- seen: as in put.sql.
SET @was = ?, @revision = ?;

-- move: expires_at comes first, since it goes by the due_at that was. A call that runs meanwhile is heard no more: its row has another
-- revision.
UPDATE future_job FORCE INDEX (PRIMARY)
SET expires_at = CAST(@due_at AS DATETIME(6)) + INTERVAL TIMESTAMPDIFF(MICROSECOND, due_at, expires_at) MICROSECOND,
  due_at = @due_at, next_check_at = @slot, revision = FLOOR(RAND() * 9e18)
WHERE next_check_at = CAST(@was AS DATETIME) AND job_key = @job_key AND revision = CAST(@revision AS UNSIGNED);

-- absent: the snapshot may be older than the row. A look with FOR UPDATE that finds none would lock the gap, and others' inserts would
-- wait.
INSERT INTO future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision, inserted_at)
VALUES ('prescient', 'bookend', 'prescient.bookend', '9999-12-31', @job_key, '9999-12-31', '9999-12-31', 0, UTC_TIMESTAMP(6));

-- away:
DELETE job FROM future_job job FORCE INDEX (PRIMARY) WHERE job.next_check_at = '9999-12-31' AND job.job_key = @job_key;
