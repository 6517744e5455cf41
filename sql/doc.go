// Package sql holds the text of the project's SQL: the migrations that make the tables, and every statement that the
// library sends, one a file, each under a header that says what it is for, which index serves it and what it locks.
//
// All of it runs as it stands on MariaDB 10.6 and later and on MySQL 8.0.16 and later. The files in plain take the place of those of the same name on other servers ([Dialect]). In the files {prefix} stands for
// the configured table prefix; other words in braces are lists or conditions that the library fills in.
//
// # Where a row goes
//
//	client/insert ─► future_job ─► slotrun/read, slotrun/lock_ranges ─► slotrun/history_insert, slotrun/end ─► job_history ─► prune/drop
//	                   ▲    │                  │
//	                   │    └─ client/delete   └─ slotrun/reschedule, to a later slot
//	                   └─ sweep/roll_forward, operate/reslot_move
//
// # What happens when a migration fails
//
// DDL commits by itself, so each migration can be repeated: [Up] is run again, and goes on with the first that is not
// noted as applied. Two at a time wait for one another (GET_LOCK, and a row where several nodes of a cluster take
// writes), a minute at most, then [ErrLocked]. Tables that are there for another resolution are left alone
// ([ErrResolution]). A program whose migrations are missing does not start, and one whose tables are ahead does:
// migrations only add, and each raises slot_config.schema_version at its end. A table that somebody has open is tried again for a
// while, by short waits, and then named with its holder ([HeldError]); what is cancelled is ended on the server too ([DDL]).
package sql
