// Package audit keeps who changed what: an entry for each change that somebody made, written in the transaction of the change. A change
// that is rolled back leaves none.
//
// # Entries
//
// An [Entry] says what was changed (kind and id), what was done (the verb), and how the object was before and after. The table adds
// when, by the database's clock, a random id, and by which account; no role but the owner can give these, or change or delete an entry. The
// context adds which person, from where and why: see [With].
//
// # Nobody waits
//
// An entry has no number, and no key that somebody else's may have, so that none is refused or held up by the entry or the open
// transaction of another account. Those that write entries and need not list them may not read them, since a read can hold locks, too.
// Entries of one statement have one time, and no order.
//
// # What is missing shows
//
// Schedules, jobs and shared steps have versions, and the audit is proved to be complete for these alone: an entry that made a version has
// it, and the incarnation of the object. The doctor finds a version that is missing or was made twice, and a latest one that is not the
// object's. Prune takes old entries only when it is asked to: it keeps that of the version which an object has, marks the one that
// then is the first, and writes an entry of its own.
//
// # What somebody forges
//
// Whoever may change schedules may write entries by plain SQL: under the account's own name, at the time when it does. Such an entry
// stops nothing, and is listed whatever it holds. The doctor names one of a version that is there already, is not the object's, or has a
// time that is none. Of pauses, checks, events and the installation there is no version: look at the account.
//
// The owner of the tables can do all that the server lets it do: delete the whole stream of what is gone, or write one anew. Let
// somebody else have a copy where that matters.
package audit
