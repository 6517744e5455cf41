// Package prune deletes old history, by whole partitions of a week, the ledger and the logs of jobs ([Run]), and makes partitions ahead
// ([KeepPartitions]). The audit stays unless it is told how long. Locked rows are left to the next prune; the error says who has tables open.
package prune
