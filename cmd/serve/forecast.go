package serve

import (
	"context"
	"time"

	"prescient/cmd/internal/program"
	"prescient/prescient/forecast"
	"prescient/sql"
)

// newForecaster makes what makes the forecast.
func newForecaster(ctx context.Context, s *program.Session, name string) (*forecast.Maker, error) {
	ctx, cancel := context.WithTimeout(ctx, program.ConnectTime)
	defer cancel()
	m, err := forecast.New(ctx, s.DB, forecast.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), Name: name, Log: s.Log})
	return m, s.Explain(err)
}

// forecastOnceTime is how long a timer's process waits for the forecast.
const forecastOnceTime = 3 * time.Second

// forecastOnce makes the forecast once, after what a timer was called for, unless somebody has within a minute. The timer has done its work
// without it, and waits for it for a short time only.
func forecastOnce(ctx context.Context, s *program.Session, name string) {
	if ctx.Err() != nil {
		return
	}
	making, stop := context.WithTimeout(ctx, forecastOnceTime)
	defer stop()
	m, err := newForecaster(making, s, name)
	if err == nil {
		_, err = m.Make(making)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn().Err(err).Msg("the forecast could not be made; slots run all the same")
	}
}
