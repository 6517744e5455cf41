// Package audit keeps who changed what: an entry for each change, written in its transaction.
//
// An [Entry] has what was changed, the verb, and the object before and after. The table adds the database's time, a random id, and the account; no role but
// the owner can give these, or change or delete an entry. [With] has the context add which person, from where and why. Entries of one statement have no
// order.
//
// Schedules, jobs and shared steps have versions, each with an entry: the doctor finds one that is missing, made twice or not the
// object's. For all else nothing proves that the audit is complete. Prune takes old entries only when asked, keeps that of the version
// which an object has, and writes an entry of its own.
//
// Whoever may change schedules may forge entries, under the account's own name and time. The owner can do anything: keep a copy elsewhere.
package audit
