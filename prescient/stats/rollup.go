package stats

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/internal/rollup"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

const (
	// StepTime is how long a rollup works at a time.
	StepTime = time.Second
	// onceTime is how long the hour may take with which Once ends.
	onceTime = 30 * time.Second
	// rollEvery is how often it looks whether there is something to do.
	rollEvery = time.Minute
	// restFor is by how much a rollup that has more to do rests longer than it worked.
	restFor = 2
)

// Options are for New.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect of the server; see [text.Dialect].
	Dialect text.Dialect
	// Worker is the name of the process that the table duty shows.
	Worker string
	// Log gets what went wrong.
	Log zerolog.Logger
}

// Rollup sums up history by hour and by day, for years: the tables stats, stats_bucket and stats_reason. Of all processes one does it at a time. It
// works also while everything is paused.
type Rollup struct {
	engine *rollup.Rollup
	log    zerolog.Logger
}

// New returns one. db is from connect.Open; its user has the rights of a worker.
func New(ctx context.Context, db *sqlx.DB, options Options) (*Rollup, error) {
	t, err := store.OpenTables(ctx, db, options.Prefix, 0, options.Dialect)
	if err != nil {
		return nil, err
	}
	return &Rollup{engine: rollup.New(db, &t, options.Worker), log: options.Log}, nil
}

// Serve sums up until ctx ends, a second at a time. What goes wrong is tried again.
func (r *Rollup) Serve(ctx context.Context) {
	for ctx.Err() == nil {
		_ = store.Sleep(ctx, r.step(ctx)) // an error is that ctx ended
	}
	r.say(r.engine.Close(ctx))
}

// Once sums up for a second, and goes on with the hour that it began, for 30 seconds at most.
func (r *Rollup) Once(ctx context.Context) {
	within, stop := context.WithTimeout(ctx, StepTime+onceTime)
	r.step(within)
	if err := r.engine.Finish(within, onceTime); within.Err() == nil {
		r.say(err)
	}
	stop()
	r.say(r.engine.Close(ctx))
}

// step makes one step, and says how long to rest.
func (r *Rollup) step(ctx context.Context) time.Duration {
	began := time.Now()
	more, err := r.engine.Step(ctx, StepTime)
	if ctx.Err() == nil {
		r.say(err)
	}
	if more {
		return restFor * time.Since(began)
	}
	return rollEvery/2 + rand.N(rollEvery) // so that processes that began together do not look together
}

func (r *Rollup) say(err error) {
	if err != nil {
		r.log.Warn().Err(err).Msg("history could not be summed up yet; this is tried again")
	}
}
