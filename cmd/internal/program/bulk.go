package program

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/ops"
)

// bulkEvery is how often bulk runs are looked for.
const bulkEvery = 2 * time.Second

// WorkBulk works off bulk runs under a name of its own, until ctx ends. What it was at stays under way then, for another.
func WorkBulk(ctx context.Context, o *ops.Ops, name string, log zerolog.Logger) {
	for {
		if err := o.WorkBulk(ctx, name); err != nil && ctx.Err() == nil {
			log.Error().Err(err).Msg("bulk runs are not worked off; they are tried again")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(bulkEvery):
		}
	}
}
