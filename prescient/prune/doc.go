// Package prune deletes history and the ledger once they are old ([Run]), and makes the partitions of history ahead
// ([KeepPartitions]). History is partitioned by week, so that old ends leave by whole partitions.
package prune
