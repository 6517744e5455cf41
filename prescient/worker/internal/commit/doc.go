// Package commit writes what becomes of rows, in one READ COMMITTED transaction behind the fence of a lease. It gets a
// session, rows and verdicts, and returns what it did with each row.
//
// # Ways to the tables
//
// The plain way takes the rows by their keys. It locks those that nobody else has locked, moves those that go on, writes the
// others to history, and deletes them one by one: it waits for nobody, and reads no other row of the slot
// (TestATxFuncWhoseRowStaysLockedIsCalledOnce and TestAnOpenInsertBetweenTheRowsHoldsNothingUp fail where one list of keys
// deletes them). A transaction of a function takes its rows in the same way, before the calls, and ends with the fence.
//
// Whatever goes another way needs a licence. These have a promise, or a server that lacks something:
//
//	way                when                                   needed for
//	free in UNIQUE     a commit by keys has waited for a      An app holds up no rows but those that it has locked, also where
//	                   lock: it looks for the locks in        its lock shows only there: 20 s against 3 s, in
//	                   UNIQUE (job_key), too                  TestALockThatDoesNotShowByThePrimaryKeyHoldsUpItsRowOnly.
//	moves at once      rows move, on MariaDB                  The same: a move locks the row after it in UNIQUE (job_key). It
//	                                                          fails at once, or each try waits for a second: 10 s against 0.4 s,
//	                                                          in TestRowsThatMoveBesideWhatAnAppHoldsAreAllThatWait.
//	in parts           a commit meets a lock all the same,    The other rows go on, whatever one row is held up by: the same
//	                   or the server refuses one of its       test, and TestARowThatCannotBeWrittenIsSetApart.
//	                   rows
//	copied, one row    its payload is longer than 64 KB, or   No statement grows with what a row holds, and a row ends that
//	                   too long to be read, or refused        cannot be read or written: TestARowWithAHugePayloadEndsLikeAnyOther,
//	                                                          TestARowThatIsTooLongToBeReadEndsAsFailed.
//	a savepoint each   a call of a transaction has failed     The failed one undoes its own effects only:
//	                                                          TestTheEffectsOfATxFunctionCommitWithTheRowsEndAndAFailedOneRollsBackAlone.
//	plain              the dialect plain                      TiDB and Vitess have neither SKIP LOCKED nor JSON_TABLE: there
//	                                                          NOWAIT refuses a batch that has a locked row, which is divided;
//	                                                          rows move one by one, and one list of keys deletes them.
package commit
