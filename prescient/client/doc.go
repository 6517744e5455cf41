// Package client is what app code works with: it inserts, cancels, reschedules and reads checks, on the caller's handle, so
// that what it does commits with the domain event. Operators list, requeue and pause with it. Each method is described at
// [Client]; which errors mean that a transaction is to be begun again, [BeginAgain] says.
package client
