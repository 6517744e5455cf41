// Package vitess runs a private Vitess of some shards in temporary folders.
//
//	cluster, err := vitess.Start(ctx, vitess.Options{Shards: 2})
//	…
//	defer cluster.Close()
//	db, err := sql.Open("mysql", cluster.DSN())              // routed by the VSchema
//	db, err := sql.Open("mysql", cluster.Shards[0].DSN())    // targeted
//
// All listen on 127.0.0.1, and are gone after Close; on Linux they die with their process. Neither vtctld nor mysqlctl is needed.
package vitess
