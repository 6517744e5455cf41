//go:build unix

// Command servers runs a command against database servers to test on, and stops them at its end. The command's exit code
// becomes this program's; a signal ends the command and then the servers.
//
//	go run ./scripts/servers [-start LIST | -dsn DSN] -- COMMAND [ARGUMENT...]
//	go run ./scripts/servers -engine galera|group-replication [-nodes N] [-restart 10s] [-durable] [-- COMMAND [ARGUMENT...]]
//	go run ./scripts/servers -engine tidb -tidb PROGRAM [-- COMMAND [ARGUMENT...]]
//
// The first starts the servers of a list, of names that localserver.Named reads, or takes the one that -dsn names. The
// command finds them in PRESCIENT_TEST_DSNS. Where a server does not start, the command is not run, the others are stopped,
// and the exit code is 1.
//
// The others start a cluster on the loopback device, or a TiDB, and print the DSN that lists the nodes; without a command
// they wait until they are interrupted. The command finds the list in PRESCIENT_DSN, with an empty database "shop", a node
// that takes writes in PRESCIENT_TEST_DSNS, as tests want it, and the nodes' folders in CLUSTER_DIRS, in the order of the
// list: each has the node's process id in server.pid. With -restart a node that was killed is started again after that
// time. TiDB is a single server, without folders.
package main
