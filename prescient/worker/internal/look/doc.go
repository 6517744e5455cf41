// Package look asks what a worker has to know before it claims anything: what time it is by the database's clock, whether a slot
// holds rows, what is paused, and which slots are overdue. It takes no locks and writes nothing.
package look
