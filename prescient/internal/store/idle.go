package store

import (
	"context"
	"time"
)

// IdleInCommit is for how long a transaction may idle whose statements follow one another.
const IdleInCommit = 3 * time.Second

// IdleKey is the key in a context for how long a transaction may idle.
type IdleKey struct{}

// MayIdle returns the context for statements that begin a transaction which may idle for a time.
func MayIdle(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, IdleKey{}, d)
}
