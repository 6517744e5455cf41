-- The end of a call: prove that the run is this worker's, and say what becomes of it. No row: it is lost.
-- Index: PRIMARY of long_run. Locks: one record, until the commit.
-- 1: allocated_until, 2: agent, 3: ended_at, 4: outcome, 5: whether the checkpoint stays, 6: due_at, 7: check_count,
-- 8: job_key, 9: token, 10: this agent: an end whose COMMIT had no answer is tried again, and a slot run may have offered the run anew
-- by then, with its token.
UPDATE {prefix}long_run SET allocated_until = ?, agent = ?, ended_at = ?, outcome = ?, checkpoint = IF(?, checkpoint, NULL), due_at = ?,
  check_count = ?
WHERE job_key = ? AND token = ? AND agent = ? AND allocated_until IS NOT NULL
