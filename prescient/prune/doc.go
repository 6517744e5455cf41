// Package prune deletes history and the ledger once they are old, and makes the partitions of history ahead.
package prune
