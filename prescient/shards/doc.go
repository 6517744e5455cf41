// Package shards has one process work on each shard of a keyspace of Vitess, on sessions that are targeted at it ([Keyspace.Serve], [Each]): none
// waits for another, one that is away is tried again, and one that was divided is followed by its parts. [VSchema] has where rows lie; README.md is for people.
package shards
