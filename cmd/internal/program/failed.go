package program

import (
	"context"
	"errors"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/words"
)

// Failed has the log of a service say what the service fails with, and returns that. There one looks for what became of a service, and a reader of
// JSON reads no other line. People read the line of the command as well, which says why: in a log for them stand when it was and the exit code.
// Before there is a configuration there is no log.
func (s *Session) Failed(cmd *cobra.Command, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	line := s.Log.Error().Int("exit_code", exit.Code(err))
	if exit.Printed(err) || !output.ForPeople(s.Program.Screen, s.Config.Log) {
		line = line.Str(zerolog.ErrorFieldName, words.Clip(words.Of(err), words.LongestComplaint))
	}
	line.Msg(cmd.Name() + " failed")
	return err
}
