package broker

import (
	"context"
	"fmt"
)

// Within returns what do returns, or once ctx ends an error that begins with what is missing then: for clients that heed no context. do goes on
// by itself.
func Within[T any](ctx context.Context, missing string, do func() (T, error)) (got T, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return got, fmt.Errorf("%s: %w", missing, context.Cause(ctx))
	}
}
