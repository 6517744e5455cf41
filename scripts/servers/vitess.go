//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
)

// runVitess starts a Vitess with keyspaces for the tests of some kinds, runs the command and cleans up.
func runVitess(kinds, command []string) (code int, err error) {
	ctx, stop := notify()
	defer stop()
	cluster, err := vitess.Start(ctx, vitess.Options{Keyspaces: servertest.Keyspaces(), ServerArgs: []string{"--max-connections=1500"}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	behind := cluster.Shards[0].Server.DSN("")
	if err := servertest.PrepareBehind(context.WithoutCancel(ctx), behind); err != nil {
		return 0, err
	}
	var named []string
	for _, kind := range kinds {
		fmt.Printf("testing on %s, on MySQL %s\n", kind, cluster.Shards[0].Server.Version())
		named = append(named, kind+"="+cluster.Gate())
	}
	return execute(ctx, command, append(testing(strings.Join(named, " "), true), servertest.BehindVariable+"="+behind))
}
