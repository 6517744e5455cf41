//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
)

// runVitess starts a Vitess with keyspaces for the tests of some kinds, runs the command and cleans up.
func runVitess(kinds, command []string) (code int, err error) {
	ctx, stop := notify()
	defer stop()
	var vschema json.RawMessage
	for _, prefix := range []string{"p_", "q_"} { // those of tests
		if vschema, err = shards.VSchema(prefix, vschema); err != nil {
			return 0, err
		}
	}
	if vschema, err = withApp(vschema); err != nil {
		return 0, err
	}
	keyspaces := servertest.Keyspaces(kinds, string(vschema))
	cluster, err := vitess.Start(ctx, vitess.Options{Keyspaces: keyspaces, ServerArgs: []string{"--max-connections=1500"}})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	behind := cluster.Shards[0].Server.DSN("")
	if err := servertest.PrepareBehind(context.WithoutCancel(ctx), behind, keyspaces); err != nil {
		return 0, err
	}
	var named []string
	for _, kind := range kinds {
		fmt.Printf("testing on %s, on MySQL %s\n", kind, cluster.Shards[0].Server.Version())
		named = append(named, kind+"="+cluster.Gate())
	}
	return execute(ctx, command, append(testing(strings.Join(named, " "), true), servertest.BehindVariable+"="+behind))
}

// withApp adds a table that a test has as an app's own.
func withApp(vschema []byte) (json.RawMessage, error) {
	var all map[string]any
	if err := json.Unmarshal(vschema, &all); err != nil {
		return nil, err
	}
	all["tables"].(map[string]any)["domain"] = map[string]any{"column_vindexes": []map[string]string{{"column": "n", "name": "prescient_id"}}}
	return json.Marshal(all)
}
