// Package connect opens the pools of workers and operators, and makes connectors for the pools of apps.
//
// [Open] sets the sessions of a worker up as the worker needs them, whatever the DSN says. A DSN may list the nodes of a cluster:
// connections go to the first that takes writes, and leave it when it takes none any more. [TLS] says how a server is verified.
//
// # Connections
//
// A pool of Open has 40 connections at most ([Options]), and keeps them. 8 of them are kept for leases, heartbeats and commits, so that
// these wait behind nothing that there may be much of. Whoever waits for a connection in vain gets [ErrNoConnection]. A function that has
// a transaction on this pool and asks for another connection may wait for others that do the same: it should use its transaction.
//
// A statement waits for a table that somebody alters, or for a read lock on all of them, for 4 s at most, and less with a short lease: then
// the server ends it, before its client gives up. The session of a statement that was given up all the same has its place among the
// connections for a second longer than that. So tries do not pile up in a server that hangs.
//
// A pool of an app's own is as the app makes it: no bound, and nothing is set on its sessions.
package connect
