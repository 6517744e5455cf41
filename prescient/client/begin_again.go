package client

import (
	"prescient/prescient/internal/errno"
)

// BeginAgain says whether an error, of a client or of a statement of the caller's own, means that the caller's transaction
// is to be rolled back and begun again, since others got in its way: it will most likely go through then. That is so for
//
//   - 1213, a deadlock, or in a Galera cluster a conflict with another node;
//   - 1205, a lock that was waited for in vain;
//   - 1020, of a MariaDB with innodb_snapshot_isolation (by default from 11.6 on): somebody has committed a change to a row
//     that a transaction under REPEATABLE READ wants to lock, after it had read its first;
//   - 1412, of a MySQL whose table was altered, by a migration or a reslot, after the transaction had read its first;
//   - 3101, a conflict in a replication group, and 9007, one in TiDB, whose 1105 "pessimistic lock retry limit reached" is one, too.
//
// With most of these the server has rolled back the whole transaction, not only the statement, and what is sent on that
// connection without a rollback is committed by itself. The error of a COMMIT counts as any other: nothing was committed.
// A connection that broke is not among them, since a COMMIT that it carried may have gone through.
func BeginAgain(err error) bool {
	return errno.BeginAgain(err)
}
