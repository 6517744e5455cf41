//go:build noasynq

package main

import (
	"context"
	"errors"
)

// errNoAsynq: a module proxy may refuse a peer's module, which is no reason for the other sections to be missing.
var errNoAsynq = errors.New("Asynq cannot be measured: its module could not be downloaded when this was built (go mod download github.com/hibiken/asynq says why)")

func (b *bench) asynq(context.Context, *server, int, int) error { return errNoAsynq }

func idleAsynq(context.Context, *bench) error { return errNoAsynq }
