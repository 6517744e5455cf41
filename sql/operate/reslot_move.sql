-- Move a range of a slot that is off the new grid: to the next slot on it, or to that of due_at where it is later.
-- first_check_at goes with it until the first check. Assignments take effect from left to right.
-- Index: PRIMARY of future_job, a range. Locks: the rows.
-- {seconds}, {micros}: the new resolution
-- 1: the slot rounded up, 2: the same, 3: slot, 4: first job_key, 5: last job_key
UPDATE {prefix}future_job
SET first_check_at = IF(first_check_at <> next_check_at, first_check_at, GREATEST(CAST(? AS DATETIME),
      TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
      ((TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', due_at) + {micros} - 1) DIV {micros}) * {seconds} SECOND)),
    next_check_at = GREATEST(CAST(? AS DATETIME), TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
      ((TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', due_at) + {micros} - 1) DIV {micros}) * {seconds} SECOND),
    revision = IF(revision < 18446744073709551615, revision + 1, 0)
WHERE next_check_at = ? AND job_key >= ? AND job_key <= ?
