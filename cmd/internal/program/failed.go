package program

import (
	"context"
	"errors"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/words"
	"prescient/prescient/connect"
)

// Failed is what a service returns that fails with an error. The log says why, a line for each thing that is wrong: that is where one looks for what
// became of a service, and a reader of JSON reads no other line. What the log has is not said again on stderr, which is where the log goes.
// Before there is a configuration there is no log.
func (s *Session) Failed(cmd *cobra.Command, err error) error {
	if stopped := cmd.Context().Err() != nil && connect.IsUnreachable(err); stopped || err == nil || errors.Is(err, context.Canceled) || exit.Printed(err) || s.Log.GetLevel() > zerolog.ErrorLevel {
		return err
	}
	code := exit.Code(err)
	for line := range strings.SplitSeq(strings.TrimSpace(words.Of(err)), "\n") {
		s.Log.Error().Str(zerolog.ErrorFieldName, words.Clip(line, words.LongestComplaint)).Int("exit_code", code).Msg(cmd.Name() + " failed")
	}
	return &exit.Error{Code: code, Err: err, Printed: true}
}
