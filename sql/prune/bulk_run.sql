-- Delete an old bulk run, unless some of its checks are still there, which somebody had locked.
-- Index: PRIMARY of bulk_run and of bulk_check, one entry each. Locks: the rows.
-- 1, 2: the number
DELETE FROM {prefix}bulk_run WHERE number = ? AND NOT EXISTS (SELECT 1 FROM {prefix}bulk_check noted WHERE noted.number = ?)
