// Package connect opens the pools of workers and operators, and makes connectors for the pools of apps.
//
// [Open] sets the sessions of a worker up, whatever the DSN says. A DSN may list the nodes of a cluster (README.md). [TLS] says how a server is verified.
//
// A pool of Open has 40 connections at most ([Options]); 8 of them are kept for leases, heartbeats and commits. Who waits in vain gets [ErrNoConnection],
// after half of the lease, 30 s at most. A function with a transaction on this pool should use no other connection.
//
// A statement waits for a locked table 4 s at most, then the server ends it; one that was given up keeps its place for a second longer. The pools and
// sessions of an app are left alone.
package connect
