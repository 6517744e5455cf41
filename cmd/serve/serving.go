package serve

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/service"
	"prescient/prescient/shards"
)

// runs is what a command that runs slots does.
type runs struct {
	// once begins what there is once in the process, however many shards are served, until stop is called; nil for nothing.
	once func(ctx context.Context, s *program.Session) (stop func(), err error)
	// with changes the options of what runs slots; nil for nothing.
	with func(ctx context.Context, s *program.Session, o *service.Options) error
	// each runs slots: those of the database, or of one shard.
	each func(ctx context.Context, s *program.Session) error
	// stays says that each ends only once ctx does: on a shard it is called again where it fails.
	stays bool
}

// serving runs a command that runs slots.
func serving(cmd *cobra.Command, prog *program.Program, what runs) error {
	return gracefully(cmd.Context(), prog.Open(cmd, 0, func(s *program.Session) error {
		return s.Failed(cmd, what.on(cmd.Context(), s))
	}))
}

// gracefully is how a command ends that was stopped while it began, with nothing in hand: as where it is stopped at work.
func gracefully(ctx context.Context, err error) error {
	if ctx.Err() != nil && nothingButStopped(err) {
		return nil
	}
	return err
}

// nothingButStopped reports whether an error, and each of those that are joined in it, is the end of a context.
func nothingButStopped(err error) bool {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !nothingButStopped(err) })
	}
	if inner := errors.Unwrap(err); inner != nil {
		return nothingButStopped(inner)
	}
	return errors.Is(err, context.Canceled) // a dialer has a text of its own for it
}

// on does it on the database, or on each shard of it.
func (r runs) on(ctx context.Context, s *program.Session) error {
	list, err := s.Shards(ctx)
	if err != nil {
		return err
	}
	whole := len(list) == 0
	if whole {
		if err := r.prepare(ctx, s); err != nil {
			return err
		}
	}
	stop, err := r.begin(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	if whole {
		return r.each(ctx, s)
	}
	look := func() {}
	serve := func(ctx context.Context, shard string) error {
		return s.OnShard(shard, func() { look() }, func(s *program.Session) error {
			if err := r.prepare(ctx, s); err != nil {
				return err
			}
			return r.each(ctx, s)
		})
	}
	if !r.stays {
		return shards.Each(ctx, list, serve)
	}
	keyspace := shards.New(shards.Keyspace{Every: s.Config.Grid.Resolution(), Log: s.Log,
		List: func(ctx context.Context) ([]string, error) { return shards.List(ctx, s.DB) }})
	look = keyspace.Look
	s.Log.Info().Strs("shards", list).Msg("each shard is served for itself")
	return keyspace.Serve(ctx, serve)
}

func (r runs) begin(ctx context.Context, s *program.Session) (stop func(), err error) {
	if r.once == nil {
		return func() {}, nil
	}
	return r.once(ctx, s)
}

// prepare makes all that slots are run with.
func (r runs) prepare(ctx context.Context, s *program.Session) error {
	err := s.NewService(ctx, func(ctx context.Context, o *service.Options) error {
		if r.with == nil {
			return nil
		}
		return r.with(ctx, s, o)
	})
	if err != nil {
		return err
	}
	warnIfNothingIsRegistered(s)
	return nil
}

// warnIfNothingIsRegistered says why nothing will be run.
func warnIfNothingIsRegistered(s *program.Session) {
	if len(s.Execs()) == 0 {
		s.Log.Warn().Msg("no job_exec is registered, so every check that is due is put off, except the timers of schedules; configure jobs.http, jobs.command, jobs.sql or jobs.orders, or register a job_exec")
	}
}
