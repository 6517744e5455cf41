// Package migrate makes the tables, brings them up to date, and finds and mends what of them is missing or was changed.
//
// The first migration is the baseline. It is made of a file for each table, view and procedure, as they are now, in the folders tables,
// views and procedures. Later ones stand in the folder migrations, and change the tables that are there. Tables from before the baseline are left alone
// ([ErrEarlier]), until [Down] drops them.
//
// # What happens when a migration fails
//
// [Up] is run again, and goes on with the first migration that is not noted as applied: DDL commits by itself, so each can be repeated. A
// second one at the same time waits a minute, then ends with [ErrLocked]. Tables of another resolution are left alone ([ErrResolution]).
// A table that somebody has open is tried for a while, then named with its holder ([HeldError]). What is cancelled is ended on the
// server too ([DDL]).
package migrate
