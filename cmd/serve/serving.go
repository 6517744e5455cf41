package serve

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
)

// serving runs a command that runs slots. What it fails with is a line of the log too: that is where one looks for what
// became of a service, and a reader of JSON does not read the other line. Before there is a configuration there is no log.
func serving(cmd *cobra.Command, prog *program.Program, serve func(s *program.Session) error) error {
	return prog.Open(cmd, 0, func(s *program.Session) (err error) {
		if err = s.NewClient(cmd.Context()); err == nil {
			err = s.NewHeartbeats(cmd.Context())
		}
		if err == nil {
			err = s.NewLong(cmd.Context())
		}
		if err == nil {
			err = s.Register(cmd.Context())
		}
		if err == nil {
			warnIfNothingIsRegistered(s)
			err = serve(s)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			s.Log.Error().Str(zerolog.ErrorFieldName, words.Clip(words.Of(err), words.LongestComplaint)).Int("exit_code", exit.Code(err)).
				Msg(cmd.Name() + " failed")
		}
		return err
	})
}

// warnIfNothingIsRegistered says why nothing will be run.
func warnIfNothingIsRegistered(s *program.Session) {
	if len(s.Execs()) == 0 {
		s.Log.Warn().Msg("no job_exec is registered, so every check that is due is put off, except the timers of schedules; configure jobs.http, jobs.command or jobs.orders, or register a job_exec")
	}
}
