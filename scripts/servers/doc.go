//go:build unix

// Command servers runs a command against database servers, and stops them at its end. The command's exit code becomes its own.
//
//	go run ./scripts/servers [-start LIST | -dsn DSN] -- COMMAND [ARGUMENT...]
//	go run ./scripts/servers -engine galera|group-replication [-nodes N] [-restart 10s] [-durable] [-- COMMAND [ARGUMENT...]]
//	go run ./scripts/servers -engine tidb -tidb PROGRAM [-- COMMAND [ARGUMENT...]]
//
// The first starts servers by the names of localserver.Named, or a Vitess for vitess or vitess-untargeted; PRESCIENT_TEST_DSNS has them. The others start a cluster or a TiDB, and without a command
// wait to be interrupted. PRESCIENT_DSN lists the nodes, with an empty database "shop"; PRESCIENT_TEST_DSNS has one that takes writes; CLUSTER_DIRS their
// folders, each with server.pid (not of TiDB).
package main
