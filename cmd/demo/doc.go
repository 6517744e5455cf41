// Package demo has the command that shows prescient at work for half a minute: a stage (a database, an app and a worker),
// a play (orders that arrive and are shipped), a teller, and at the end the books, which have to balance.
package demo
