// Package keyspace measures keyspaces of Vitess, by the program as a user builds it.
package keyspace
