-- What CALL put does, behind check.sql: makes a check pending. @on_pending says what becomes of one that is pending already: keep, replace,
-- earlier or later. A row whose slot has begun may be running, so each of them replaces it. An app that is to fail where the check is
-- pending (error) sends insert alone, and gets 1062; for that the role app-sql is enough, for all of it app-reschedule is.
--
-- The look locks nothing, and what changes a row goes by its full primary key and revision: a lock through job_key first, as by an INSERT
-- that meets the row, or an upsert, is a deadlock with the slot run that ends it. One of three follows:
--   no row: insert            stays is 1: seen, stay            else: seen, replace
-- Where insert fails with 1062, stay finds no row or replace changes none, somebody was faster, or the transaction's snapshot is older than
-- the row. Then look with FOR UPDATE at the end, and go on from there; after ten times give up.
SET @on_pending = 'keep';

-- look:
SELECT CAST(next_check_at AS CHAR) AS was, CAST(revision AS CHAR) AS revision, CAST(due_at AS CHAR) AS due_at,
  next_check_at > UTC_TIMESTAMP(6) AND (@on_pending = 'keep' OR @on_pending = 'earlier' AND due_at <= CAST(@due_at AS DATETIME(6))
    OR @on_pending = 'later' AND due_at >= CAST(@due_at AS DATETIME(6))) AS stays
FROM future_job FORCE INDEX (job_key)
WHERE job_key = @job_key AND entity_name = @entity_name AND entity_key = @entity_key AND job_exec = @job_exec AND tag = @tag;

-- insert: a revision is new with every change.
INSERT INTO future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload,
  revision, inserted_at)
VALUES (@entity_name, @entity_key, @job_exec, @tag, @due_at, @job_key, @slot, @slot, @payload,
  FLOOR(RAND() * 9e18), UTC_TIMESTAMP(6));

-- seen: was and revision as the look gave them, as text: not every language has integers of 63 bits.
SET @was = ?, @revision = ?;

-- stay: keeps others from cancelling the row before the app commits.
SELECT revision FROM future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = CAST(@was AS DATETIME) AND job_key = @job_key AND revision = CAST(@revision AS UNSIGNED) FOR UPDATE;

-- replace:
UPDATE future_job FORCE INDEX (PRIMARY)
SET due_at = @due_at, first_check_at = @slot, next_check_at = @slot, payload = @payload, check_count = 0, error_count = 0,
  put_off_count = 0, last_error = NULL, total_ms = 0, revision = FLOOR(RAND() * 9e18), inserted_at = UTC_TIMESTAMP(6),
  expires_at = NULL, trace = NULL, rule_version = NULL, occasion_at = NULL
WHERE next_check_at = CAST(@was AS DATETIME) AND job_key = @job_key AND revision = CAST(@revision AS UNSIGNED);
