-- Delete the oldest rows of the last partition of job_history or event_published, which is never dropped.
-- Index: PRIMARY of the table in p_later, a range. Locks: the rows.
-- 1: before, 2: limit; {table}, {at}, {order}: as in later_rows.sql
DELETE FROM {prefix}{table} PARTITION (p_later) WHERE {at} < ? ORDER BY {order} LIMIT ?
