// Package prune deletes history, the ledger and the logs of jobs once they are old ([Run]), and makes the partitions of history ahead
// ([KeepPartitions]). The audit stays unless it is told how long. History is partitioned by week, so that old ends leave by whole partitions.
package prune
