// Package keyspace measures prescient on keyspaces of Vitess, by the program as a user builds it: one process for all shards.
package keyspace
