// Package ops has each operation that people and programs do on an installation, once. The doors call it: package api, the page, commands. An [Operation]
// is a value, and [All] lists them.
//
// # Roles
//
//	viewer    sees everything but payloads, and what others' SQL says
//	operator  sees payloads; cancels, moves, requeues, pauses, drains, runs now; changes schedules, jobs, rules
//	admin     also makes and revokes tokens, and says who signs in to the page
//
// An operation runs on the database account of its caller's role (serve-viewer, serve-operator, serve-admin): the server refuses a door that forgot to ask.
//
// # Deeds
//
// An operation that changes something is a deed. It is one transaction: the change, its entry in the audit with the caller's name and reason, and,
// where the caller gave an idempotency key, its answer. The same key and request again get that answer for 24 hours, and nothing is done;
// with another request the error wraps [ErrKeyUsed]; while the first is under way, [ErrUnderWay]. A deed with a secret takes no key.
package ops
