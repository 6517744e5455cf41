-- Insert pending rows. Most have neither tag, payload nor expiry, and what is not sent need not be read.
-- Index: those of future_job. Locks: the new rows.
-- A direct insert has a condition for next_check_at: IF(…, slot, NULL), of which NULL is refused.
-- {rows}: (…), (…) in the order of the columns, {more}: empty, or what there is of ", inserted_at" (in the dialect plain),
-- ", tag, payload", ", expires_at", ", trace" and ", rule_version, occasion_at", in this order
INSERT INTO {prefix}future_job (entity_name, entity_key, job_exec, due_at, job_key, first_check_at, next_check_at, revision{more})
VALUES {rows}
