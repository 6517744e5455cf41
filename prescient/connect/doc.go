// Package connect opens the pools of workers and operators, and makes connectors for the pools of apps.
//
// A worker's sessions are set up as it needs them, whatever the DSN says. A DSN may list the nodes of a cluster: connections
// go to the first that takes writes, and leave it when it takes none any more. A server is verified as TLS says.
package connect
