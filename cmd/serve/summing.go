package serve

import (
	"context"

	"prescient/cmd/internal/program"
	"prescient/prescient/stats"
	"prescient/sql"
)

// summing runs what runs slots, and sums up history beside that.
func summing(ctx context.Context, s *program.Session, worker string, run func(ctx context.Context) error) error {
	rollup, err := newRollup(ctx, s, worker)
	if err != nil {
		return err
	}
	return beside(ctx, rollup.Serve, run)
}

// sumOnce sums up history after a slot, for a second and to the end of an hour: where workers are timers, nobody else does.
func sumOnce(ctx context.Context, s *program.Session, worker string) {
	if ctx.Err() != nil {
		return
	}
	rollup, err := newRollup(ctx, s, worker)
	if err != nil {
		s.Log.Warn().Err(err).Msg("history is not summed up")
		return
	}
	rollup.Once(ctx)
}

func newRollup(ctx context.Context, s *program.Session, worker string) (*stats.Rollup, error) {
	return stats.New(ctx, s.DB, stats.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), Worker: worker, Log: s.Log})
}
