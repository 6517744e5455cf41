-- Fence off whoever had a lease that lives no more and may wake up yet: no commit goes through under the old token.
-- Index: none: the whole ledger is read. Locks: the records that match.
UPDATE {prefix}slot_run SET token = token + 1, takeovers = takeovers + 1, allocated_until = NULL
WHERE allocated_until IS NOT NULL AND {free allocated_until}
