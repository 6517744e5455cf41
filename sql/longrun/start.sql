-- Start runs, go on with them under new tokens, offer them to the agents of a pool, have them wait, or end them. What an INSERT gives
-- of a run that is there takes its place: that is locked since it was read.
-- Index: PRIMARY of long_run, one entry each. Locks: the rows, and the new ones.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}long_run (job_key, schedule_id, occurrence, pool, agent, token, allocated_until, slot, due_at, inserted_at,
  check_count, started_at, called_at, takeovers, checkpoint, ended_at, outcome)
VALUES {rows}
ON DUPLICATE KEY UPDATE pool = VALUES(pool), agent = VALUES(agent), token = VALUES(token), allocated_until = VALUES(allocated_until),
  slot = VALUES(slot), due_at = VALUES(due_at), inserted_at = VALUES(inserted_at), check_count = VALUES(check_count),
  started_at = VALUES(started_at), called_at = VALUES(called_at), takeovers = VALUES(takeovers), checkpoint = VALUES(checkpoint),
  ended_at = VALUES(ended_at), outcome = VALUES(outcome)
