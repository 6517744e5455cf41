// Package sql holds every statement that the library sends, one a file, under a header that says what it is for, which index serves it and
// what it locks; package migrate makes the tables. It runs on MariaDB 10.6 and MySQL 8.0.16, and later; on
// other servers some lines are others ([Dialect.Read]). The library fills in {prefix} and other words in braces.
//
//	client/insert ─► future_job ─► slotrun/read, slotrun/lock_ranges ─► slotrun/history_insert, slotrun/end ─► job_history ─► prune/drop
//	                   ▲    │                  │
//	                   │    └─ client/delete   └─ slotrun/reschedule, to a later slot
//	                   └─ sweep/roll_forward, operate/reslot_move
package sql
