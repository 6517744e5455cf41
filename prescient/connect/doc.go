// Package connect opens the pools of workers and operators, and makes connectors for the pools of apps.
//
// [Open] sets the sessions of a worker up as the worker needs them, whatever the DSN says. A DSN may list the nodes of a cluster:
// connections go to the first that takes writes, and leave it when it takes none any more. [TLS] says how a server is verified.
package connect
