-- Move rows to later slots, each only if it is still the row that was read. Never an upsert or a new row: those would
-- bring a cancelled row back.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows.
-- 1: JSON [[job_key, revision, next_check_at, due_at, check_count, error_count, put_off_count, total_ms, last_error, expires_at], …],
-- 2: slot
UPDATE JSON_TABLE(?, '$[*]' COLUMNS (
         job_key       CHAR(32)        PATH '$[0]',
         revision      BIGINT UNSIGNED PATH '$[1]',
         next_check_at DATETIME        PATH '$[2]',
         due_at        DATETIME(6)     PATH '$[3]',
         check_count   INT UNSIGNED    PATH '$[4]',
         error_count   INT UNSIGNED    PATH '$[5]',
         put_off_count INT UNSIGNED    PATH '$[6]',
         total_ms      BIGINT UNSIGNED PATH '$[7]',
         last_error    VARCHAR(1000)   PATH '$[8]',
         expires_at    DATETIME(6)     PATH '$[9]')) moved
  STRAIGHT_JOIN {prefix}future_job job FORCE INDEX (PRIMARY)
  ON job.next_check_at = ? AND job.job_key = UNHEX(moved.job_key) AND job.revision = moved.revision
SET job.next_check_at = moved.next_check_at, job.due_at = moved.due_at, job.check_count = moved.check_count,
    job.error_count = moved.error_count, job.put_off_count = moved.put_off_count, job.total_ms = moved.total_ms,
    job.last_error = moved.last_error, job.expires_at = moved.expires_at,
    job.revision = IF(job.revision < 18446744073709551615, job.revision + 1, 0)
