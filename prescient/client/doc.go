// Package client is what app code works with: it inserts, cancels, reschedules and reads checks, on the caller's handle, so
// that what it does commits with the domain event. Operators list, requeue and pause with it. Each method is described at
// [Client]; which errors mean that a transaction is to be begun again, [BeginAgain] says.
//
// # Ways beside the plain one
//
// The plain way reads what is pending, without a lock, and writes by the primary key. There are others:
//
//	direct insert     one statement without a look before it, in place of two: without it an insert adds 1.4 to 2.2
//	                  times what plain SQL adds to the app's transaction (scripts/bench/run insert). Where a look has been
//	                  worth it a client looks first again: a direct insert that meets a pending row leaves a lock on its
//	                  job_key, from which the way to the row is a deadlock with the slot run that ends it.
//	CALL cancel       one or two round trips in place of up to nine. Servers of the dialect plain have no procedure, and an
//	                  account may lack the right to call it: there, for several job_execs, on a single connection that may be in
//	                  a transaction, and for CancelMany, a client sends the statements itself.
//	bookends          rows that end a locking read of an entity's range, so that it locks no row of another entity.
//	DELETE, INSERT    in place of a replacing UPDATE, for accounts that have no right to UPDATE, where the slot has begun.
package client
