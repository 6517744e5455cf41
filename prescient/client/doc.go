// Package client inserts, cancels, reschedules and reads checks on the caller's handle, so that this commits with the domain event. Operators list,
// requeue and pause with it.
//
// # Special paths
//
// The plain way reads what is pending without a lock, and writes by the primary key. Others:
//
//	direct insert     One statement, without a look: else an insert adds 1.4 to 2.2 times what plain SQL adds to the app's transaction
//	                  (scripts/bench/run insert). A client looks first again where looks have been worth it: a direct insert that meets a
//	                  pending row locks its job_key, which is a deadlock with the slot run that ends the row.
//	CALL cancel       One or two round trips in place of up to nine. The client sends the statements itself in the dialect plain, without the
//	                  right to call, for several job_execs, on a single connection, and for CancelMany.
//	bookends          Rows at both ends of a locking read, so that it locks no row of another entity.
//	DELETE, INSERT    In place of a replacing UPDATE, for accounts without that right, where the slot has begun.
package client
