// Package commit writes what becomes of rows, in one READ COMMITTED transaction behind the fence of a lease. It gets a
// session, rows and verdicts, and returns what it did with each row.
package commit
