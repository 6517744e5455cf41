// Package forward publishes what is in the outbox.
//
// A [Forwarder] has leases of some of the outbox's 64 shards; those that are alive share them. Of each shard that it has it reads the
// first events, publishes them, those of one key and topic one after the other, all others side by side, and deletes
// what the brokers have acknowledged. The deletion is one transaction, which proves the lease's fencing token.
//
// # Order
//
// It keeps no cursor: every read of a shard begins with its first row, and is one statement. Numbers do not commit in order, but (see package
// event) an event whose transaction began after another one's had committed has the higher number, and no statement sees it without the other.
// The next event of a key and topic is published once the one before it was acknowledged. So a forwarder that dies, freezes or loses its
// lease makes repeats, and never has a later event published first.
//
// # Trouble
//
// A broker that does not answer keeps its events in the outbox, not in memory. A topic whose broker is slow has places of its own to wait
// in, and a shard that it fills, or a key with many events does, is read past it. A key whose event failed waits, ever longer, up to half a
// minute; after five failures of a topic in a row, all of it waits for two seconds, and then for one event that goes through, and where 32
// keys of a topic wait in a shard, all of it waits there.
// An event that the server refuses to settle is found by halves, and goes on alone, beside the others; so do those that somebody has locked, as an
// analyst's open FOR SHARE does, or whose count somebody has. Reads leave out what waits. What the
// broker refuses for good goes to event_set_aside with the reason, and the key goes on; or holds up its key, where the route says so.
//
// # One pass
//
// A timer has [Forwarder.RunUntilEmpty] publish what is there as it begins: events up to the last number of each shard. What failed is tried by
// the next pass, so that each ends: a key waits for good, and so does a topic after five failures in a row. A pass takes only shards
// that nobody has, and waits for those of others for two leases, and for a minute at most: then it names them where nothing of them went out.
// It ends as well where the database refuses it something for as long.
//
// # Special paths
//
//	pages of 256 events      so that 64 shards of payloads of 4 KiB are 64 MiB of memory, and four times as much where three topics are slow
//	payloads above 4 KiB     are read one by one, when their turn comes, for the same reason: 16 MiB of a topic and 64 MiB of all at a time, also
//	                         of events that no CHECK has held to a megabyte
//	a rest after a read      that found nothing new, and after a look, nine times as long as it took, 5 s at most: a backlog that cannot be
//	                         published takes a tenth of a core, and so do a million deleted events that an app's old snapshot keeps from
//	                         being purged, which a look passes over in 0.2 to 0.4 s on MariaDB
//	two transactions         that delete at a time: 100,000 events that nobody has to be waited for go out in 1.6 s on MariaDB, in 1.9 s with
//	                         one (scripts/bench/run --only out events)
package forward
