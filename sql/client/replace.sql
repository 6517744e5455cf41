-- Put another check in the place of a pending one, if it is still the row that was read. The hint as in delete.sql.
-- Index: PRIMARY of future_job, one entry. Locks: the row.
-- {due_at}, {next_check_at}, {payload}, {new_revision}: of the new one; {expires_at}, {trace}, {rule}: empty, or ", expires_at = …"
-- where one of the two has one, since an account may have no right to the column; {slot}, {key}, {revision}: the row as it was read
UPDATE {prefix}future_job FORCE INDEX (PRIMARY)
SET due_at = {due_at}, first_check_at = {next_check_at}, next_check_at = {next_check_at}, payload = {payload},
    check_count = 0, error_count = 0, put_off_count = 0, last_error = NULL, total_ms = 0,
    inserted_at = UTC_TIMESTAMP(6), revision = {new_revision}{expires_at}{trace}{rule}
WHERE next_check_at = {slot} AND job_key = {key} AND revision = {revision}
