-- Write the ends of rows on a shard of Vitess from the rows themselves, which need not travel again: what is sent is one
-- literal, where vtgate and vttablet parse, and hand on, each value of history_insert. The count must be theirs, or the
-- commit is rolled back.
-- Index: PRIMARY of future_job, one entry a row; job_history's own. Locks: the new rows; those read are held already.
-- 1: worker, 2: JSON [[job_key, check_count, error_count, put_off_count, total_ms, outcome, reason, started_at, ended_at,
-- run_ms, lateness_ms], …], 3: slot
INSERT INTO {prefix}job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
  check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
  slot, outcome, error, started_at, ended_at, run_ms, lateness_ms, worker, expires_at)
SELECT job.entity_name, job.entity_key, job.job_exec, job.tag, job.due_at, job.job_key, job.first_check_at, job.next_check_at,
  ended.check_count, ended.error_count, ended.put_off_count, job.last_error, ended.total_ms, job.payload, job.revision, job.inserted_at,
  job.next_check_at, ended.outcome, ended.reason, ended.started_at, COALESCE(ended.ended_at, UTC_TIMESTAMP(6)),
  ended.run_ms, ended.lateness_ms, ?, job.expires_at
FROM JSON_TABLE(?, '$[*]' COLUMNS (
       job_key       CHAR(32)        PATH '$[0]',
       check_count   INT UNSIGNED    PATH '$[1]',
       error_count   INT UNSIGNED    PATH '$[2]',
       put_off_count INT UNSIGNED    PATH '$[3]',
       total_ms      BIGINT UNSIGNED PATH '$[4]',
       outcome       VARCHAR(20)     PATH '$[5]',
       reason        VARCHAR(1000)   PATH '$[6]',
       started_at    DATETIME(6)     PATH '$[7]',
       ended_at      DATETIME(6)     PATH '$[8]',
       run_ms        BIGINT UNSIGNED PATH '$[9]',
       lateness_ms   BIGINT          PATH '$[10]')) ended
  STRAIGHT_JOIN {prefix}future_job job FORCE INDEX (PRIMARY)
  ON job.next_check_at = ? AND job.job_key = UNHEX(ended.job_key)
