// Package look asks what a worker has to know before it claims anything: the database's time, whether a slot holds rows, what is paused, which slots
// are overdue. It takes no locks and writes nothing.
package look
