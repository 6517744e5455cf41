-- Some pending rows, without their payload. The key stands there in hexadecimal: while a statement is no text, MySQL shows nobody's
-- transactions.
-- Index: PRIMARY of future_job, or UNIQUE (job_key), from a place on, at most the limit's entries. Locks: none.
-- {index}: which one, {order}: its columns, {from}: a condition; 1: limit
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count
FROM {prefix}future_job FORCE INDEX ({index}) WHERE {from} ORDER BY {order} LIMIT ?
