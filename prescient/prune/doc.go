// Package prune deletes history, the ledger and the logs of jobs once they are old ([Run]), and makes the partitions of history ahead
// ([KeepPartitions]). The audit stays unless it is told how long. History is partitioned by week, so that old ends leave by whole partitions.
// Old rows that somebody has locked are left to the next prune, and the error says who has the tables open.
package prune
