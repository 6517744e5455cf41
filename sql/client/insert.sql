-- Insert pending rows. Most have neither tag nor payload, and what is not sent need not be read.
-- Index: those of future_job. Locks: the new rows.
-- A direct insert has a condition for next_check_at: IF(…, slot, NULL), of which NULL is refused.
-- {rows}: (…), (…) in the order of the columns, {more}: empty, or ", inserted_at" (in the dialect plain), ", tag, payload", or
-- both
INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision{more})
VALUES {rows}
