// Package forward publishes what is in the outbox.
//
// The outbox has 64 shards, of which each live [Forwarder] has leases of some. It publishes the events of one key and topic one after the other, all
// others side by side, and deletes what brokers have acknowledged, by a transaction that proves the lease's token. Every read of a shard begins with its
// first row, since an event may commit late.
//
// # Trouble
//
// A slow topic waits in places of its own, and a shard that it or a busy key fills is read past it. A key whose event failed waits, ever longer,
// up to half a minute. After five failures in a row a topic waits for two seconds, then for one event that goes through; with 32 waiting keys
// in a shard, it waits there. Events that the server refuses to delete, or that somebody has locked, go on alone.
//
// # Special paths
//
//	pages of 256 events   64 shards of payloads of 4 KiB are 64 MiB of memory, four times as much with three slow topics
//	payloads above 4 KiB  are read one by one, in their turn: 16 MiB of a topic and 64 MiB of all at a time
//	a rest after a read   without news, nine times as long as it took, 5 s at most: a stuck backlog takes a tenth of a core
//	two transactions      delete at a time: 100,000 events to nobody take 1.6 s on MariaDB, 1.9 s with one (scripts/bench/run --only out events)
package forward
