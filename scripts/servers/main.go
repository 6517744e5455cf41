//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"prescient/prescient/localserver"
)

func main() {
	names := flag.String("start", "mariadb,mariadb-11.8,mysql", "the servers to start")
	dsn := flag.String("dsn", "", "test on this server instead of own ones")
	engine := flag.String("engine", "", "start this instead: galera, group-replication or tidb")
	tidb := flag.String("tidb", "", "TiDB's server program, for that engine")
	nodes := flag.Int("nodes", 3, "how many nodes a cluster has")
	restart := flag.Duration("restart", 0, "start a node again so long after it was killed; 0 for never")
	durable := flag.Bool("durable", false, "each commit on a cluster is on disk when it returns")
	flag.Parse()
	var code int
	var err error
	switch {
	case *engine == "tidb" && *tidb != "":
		code, err = runTiDB(*tidb, flag.Args())
	case (*engine == string(localserver.Galera) || *engine == string(localserver.GroupReplication)) && *nodes > 0:
		code, err = runCluster(localserver.ClusterOptions{Engine: localserver.Engine(*engine), Nodes: *nodes,
			Server: localserver.Options{Durable: *durable, Args: []string{"--max-connections=500"}}}, *restart, flag.Args())
	case *engine == "" && *dsn == "" && strings.HasPrefix(*names, "vitess") && flag.NArg() > 0:
		code, err = runVitess(strings.Split(*names, ","), flag.Args())
	case *engine == "" && flag.NArg() > 0:
		code, err = runEach(*dsn, strings.Split(*names, ","), flag.Args())
	default:
		fmt.Fprintln(os.Stderr, "usage: servers [-start LIST | -dsn DSN] -- COMMAND [ARGUMENT...]\n"+
			"       servers -engine galera|group-replication [-nodes N] [-restart DURATION] [-durable] [-- COMMAND [ARGUMENT...]]\n"+
			"       servers -engine tidb -tidb PROGRAM [-- COMMAND [ARGUMENT...]]")
		code = 2
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		code = 1
	}
	os.Exit(code)
}
