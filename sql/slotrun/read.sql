-- Read the next rows of a bucket. Equality on the slot and a cursor on the key: what was deleted before is not walked.
-- {filter} is empty, or keeps to one job_exec, or leaves some out.
-- A payload that is longer, as the server stores it, is not read: an empty text stands for it. MySQL reads an empty one by itself
-- where the text is longer than max_allowed_packet. MariaDB takes the first of the comments for text, others the second.
-- An occasion_at that is no date, which plain SQL may have written, is NULL.
-- A total_ms that somebody wrote by hand may be more than a program counts to: it would hold up the rows beside it.
-- Index: PRIMARY of future_job, a range. Locks: none.
-- {first}, {last}: job_keys (inclusive) as literals: while somebody's statement is no text MySQL shows nobody a list of transactions
-- 1: how many bytes a payload has at most, 2: slot, then what {filter} takes, then the limit
SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, check_count, error_count, put_off_count,
       last_error, LEAST(total_ms, 9000000000000000000),
       IF(/*M! LENGTH *//*!80000 JSON_STORAGE_SIZE */(payload) > ?, '', payload), revision, inserted_at, expires_at, trace,
       rule_version, TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', occasion_at)
FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND job_key >= {first} AND job_key <= {last} {filter}
ORDER BY job_key LIMIT ?
