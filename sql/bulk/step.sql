-- Note what a step did, in its transaction, unless the run was stopped or is over.
-- Index: PRIMARY of bulk_run, one entry. Locks: the row.
-- 1: pass; 2: reached; 3: done in this step; 4: left_out in the pass; 5: refused in the pass; 6: number
UPDATE {prefix}bulk_run FORCE INDEX (PRIMARY) SET pass = ?, reached = ?, done = done + ?, left_out = ?, refused = ?
WHERE number = ? AND ended_at IS NULL AND stopped_at IS NULL
