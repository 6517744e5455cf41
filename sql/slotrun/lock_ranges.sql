-- Lock rows that follow one another in the table, and see whether they are still those that were read and no others.
-- The limit is their number: where they are all there, the first row of a neighbour is never looked at. Where somebody
-- has one of them locked, or inserts one between them, this fails at once instead of waiting.
-- Index: PRIMARY of future_job, a range or a few. Locks: the rows, and what came between them.
-- {ranges}: job_key >= X'…' AND job_key <= X'…' OR …
-- 1: slot, 2: limit
SELECT job_key, revision FROM {prefix}future_job FORCE INDEX (PRIMARY)
WHERE next_check_at = ? AND ({ranges}) ORDER BY job_key LIMIT ? FOR UPDATE NOWAIT
