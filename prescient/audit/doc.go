// Package audit keeps who changed what: an entry for each change that somebody made, written in the transaction of the change. A change
// that is rolled back leaves none.
//
// # Entries
//
// An [Entry] says what was changed (kind and id), what was done (the verb), and how the object was before and after. The table adds
// when, by the database's clock, and by which account; no role but the owner can give these, or change or delete an entry. The context
// adds which person, from where and why: see [With].
//
// # A gap shows
//
// The entries of one object are a stream: they have the numbers 1, 2, 3 and so on. Whoever changes an object has it locked, so nobody
// waits for the entry of another object, and a transaction that is rolled back leaves no hole. The doctor finds a stream that has a
// hole, or whose latest entry is not of the version that its object has. What has no object of its own, such as prune, is in the stream
// of the [Installation]. Prune takes old entries only when it is asked to: it marks the entry that then is the first of its
// stream, and writes one of its own. It keeps the latest of what still may be there.
//
// The owner of the tables can do all that the server lets it do: delete the whole stream of what is gone, or write one anew. Let
// somebody else have a copy where that matters.
//
// # Locks
//
// The number comes from a plain look at the latest entry of the stream; that of a new object is 1, unless that is taken. Where the
// look was wrong, since the snapshot of the caller's transaction hid an entry, the unique key refuses the number, and a look with a
// shared lock tells the right one. Entries come last in a transaction.
package audit
