// Package transact calls functions in the transaction that ends or moves their rows: TxFuncs and TxBatchFuncs. The transaction locks the rows
// as package commit says, before the calls, and is committed by that, with the fence last: the ledger's record is not locked while they run.
//
// Calls share one savepoint until one of them has failed: with one each, and without a failure, a Tx handler does 0.31
// (MariaDB 10.11) and 0.40 (MySQL 9.7) of the rows a second, by the bench of package commit. After a failure each has its own for a while:
// TestTheEffectsOfATxFunctionCommitWithTheRowsEndAndAFailedOneRollsBackAlone.
package transact
