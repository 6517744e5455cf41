-- Hold every row to the new grid; refused where one is off it. Both servers copy the table for that.
-- Locks: the table, against writes, while it is copied.
-- {seconds}: the new resolution
ALTER TABLE {prefix}future_job ADD CONSTRAINT {prefix}future_job_on_grid
  CHECK (next_check_at >= TIMESTAMP'1000-01-01 00:00:00'
    AND TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', next_check_at) % {seconds} = 0)
