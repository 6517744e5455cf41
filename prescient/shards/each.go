package shards

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Each does something on each of some shards, at the same time, and waits for all. An error names its shard, and keeps no other from being done.
func Each(ctx context.Context, list []string, do func(ctx context.Context, shard string) error) error {
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, shard := range list {
		all.Go(func() {
			if err := do(ctx, shard); err != nil {
				errs[i] = fmt.Errorf("shard %s: %w", shard, err)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
