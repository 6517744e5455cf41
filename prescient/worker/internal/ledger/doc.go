// Package ledger works with slot_run: it opens the buckets of a slot, claims, renews and gives back their leases, sends the fence of a commit, and finds
// out what became of a COMMIT whose answer was lost.
package ledger
