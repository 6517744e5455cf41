// Package commit writes what becomes of rows, in one READ COMMITTED transaction behind the fence of a lease. It gets a
// session, rows and verdicts, and returns what it did with each row.
//
// # Ways
//
// A commit locks rows, moves some, and writes the ends of the others to history. The licence of a way: plain, a test that fails
// without it, or the share of rows a second without it on MariaDB 10.11 (M) and MySQL 9.7 (Y), by
//
//	scripts/bench/run --scale 0.2 --rounds 4 --only 'prescient, ends, alone on its server' --only 'Tx' ends
//
//	lock
//	  ByRanges      0.57 (M), 0.49 (Y); in transactions of functions 0.75, 0.77
//	  ByKeys        plain: it waits for nobody, and reads no other row of the slot;
//	                TestATxFuncWhoseRowStaysLockedIsCalledOnce, TestAnOpenInsertBetweenTheRowsHoldsNothingUp
//	  FreeInUnique  TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly, TestAFunctionInATransactionMayTakeItsTime
//	history
//	  asValues      plain
//	  copiedRow     TestARowWithAHugePayloadEndsLikeAnyOther, TestARowThatIsTooLongToBeReadEndsAsFailed
//	  copiedRange   0.33 (M), 0.47 (Y)
//	  copiedEach    shards of Vitess: vtgate and vttablet take 1.2 times the CPU without
//	moves
//	  together      plain
//	  each          TiDB and Vitess, which lack JSON_TABLE
//	  atOnce        MariaDB: TestRowsThatMoveBesideWhatAnAppHoldsAreAllThatWait
//
// # From which to which
//
// A bucket begins with ByRanges where its rows have ranges that pay; with FreeInUnique for what was contested, where functions work
// in transactions on its rows, or where its slot has waited.
//
//	from                  refused by                       next
//	ByRanges              other rows                       ByKeys, same transaction
//	ByRanges              changed, at once                 ByKeys, new transaction
//	ByKeys                at once                          FreeInUnique, this batch
//	ByRanges, ByKeys      waited                           FreeInUnique, the whole slot
//	FreeInUnique          at once, waited                  16 parts, FreeInUnique; alone: later
//	any                   row refused                      16 parts, from the beginning; alone: otherwise
//	any                   fifth break                      16 parts, from the beginning; alone: later, and told
//	ByKeys, FreeInUnique  changed                          the same, after a wait
//	any                   passing, by chance               the same, after a wait
//	any                   staying                          the run ends
//	Tx: ByRanges          other rows, at once, waited      ByKeys, new transaction
//
// Otherwise is without payload, as an error, put off, or in its slot: see bucket/refused.go. In the dialect plain a NOWAIT of ByKeys counts as waited.
package commit
