-- An app with all that the Go client can do: app, and replace, earlier, later and Reschedule. Names and job_key of a row
-- stay what they are.
GRANT UPDATE (due_at, first_check_at, next_check_at, check_count, error_count, put_off_count, last_error, total_ms) ON {database}.{future_job} TO {account};
-- +role app
