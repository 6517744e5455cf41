// Package blocking finds which sessions of the database wait for others at the tables of an installation, or anywhere: each chain from
// its root, which waits for nobody, to the last that waits for it. It reads what the server notes of its locks, of rows and of
// metadata, and changes nothing. Of rows that are overdue it finds some that a session has locked, and which: by waiting for the row itself,
// for a second at most, since a session for which nobody waits shows nowhere on MariaDB.
//
// # Terms
//
//	session   a connection, by the number that KILL takes
//	wait      one session waits for what another has, or is to get first
//	chain     a root and all that wait for it, directly or not
//	root      the session that waits for nobody: once its transaction is over, or the session is ended, the others go on
package blocking
