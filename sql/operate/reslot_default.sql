-- Plain inserts go by the new grid from here on, and rows may lie off it. At once on both servers, once the open
-- transactions that have touched the table are over.
-- Locks: the table, for the moment.
-- {seconds}, {micros}: the new resolution
-- {drop}: empty, or the clause that drops the CHECK
ALTER TABLE {prefix}future_job {drop} ALTER COLUMN first_check_at SET DEFAULT (TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
  ((TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', due_at) + {micros} - 1) DIV {micros}) * {seconds} SECOND)
