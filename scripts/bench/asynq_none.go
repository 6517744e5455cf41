//go:build noasynq

package main

import (
	"context"
	"errors"

	"prescient/scripts/bench/internal/rig"
)

// errNoAsynq: a module proxy may refuse a peer's module, which is no reason for the other sections to be missing.
var errNoAsynq = errors.New("Asynq cannot be measured: its module could not be downloaded when this was built (go mod download github.com/hibiken/asynq says why)")

func besideAsynq(context.Context, *rig.Bench, *rig.Server, int, int) error { return errNoAsynq }

func idleAsynq(context.Context, *rig.Bench) error { return errNoAsynq }
