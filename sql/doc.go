// Package sql holds the project's SQL: the migrations that make the tables, and every statement that the library sends, one a file, each
// under a header that says what it is for, which index serves it and what it locks. It runs on MariaDB 10.6 and MySQL 8.0.16, and later; on
// other servers files in plain take the place of those of the same name ([Dialect]). The library fills in {prefix} and other words in braces.
//
//	client/insert ─► future_job ─► slotrun/read, slotrun/lock_ranges ─► slotrun/history_insert, slotrun/end ─► job_history ─► prune/drop
//	                   ▲    │                  │
//	                   │    └─ client/delete   └─ slotrun/reschedule, to a later slot
//	                   └─ sweep/roll_forward, operate/reslot_move
//
// # What happens when a migration fails
//
// [Up] is run again, and goes on with the first migration that is not noted as applied: DDL commits by itself, so each can be repeated. A
// second one at the same time waits a minute, then ends with [ErrLocked]. Tables of another resolution are left alone ([ErrResolution]).
// A program whose migrations are missing does not start; one whose tables are ahead does. A table that somebody has open is tried for
// a while, then named with its holder ([HeldError]). What is cancelled is ended on the server too ([DDL]).
package sql
