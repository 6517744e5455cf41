package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/client"
)

const (
	// signsRead is how many ends, and how many pending checks, are read for signs of a job_exec.
	signsRead = 10_000
	// signsTime bounds that: what was asked for is done already.
	signsTime = 5 * time.Second
	// mostWarnings is about how many names one command warns.
	mostWarnings = 10
	// mostNames is how many names of a file are remembered to be warned about.
	mostNames = 100
)

// ExecNames are the first different job_execs of many checks.
type ExecNames []string

// Add adds a name, if there is one.
func (n *ExecNames) Add(name string) {
	if name != "" && len(*n) < mostNames && !slices.Contains(*n, name) {
		*n = append(*n, name)
	}
}

// WarnMisspelt is WarnUnregistered for a command that need not know what is registered here.
func (s *Session) WarnMisspelt(cmd *cobra.Command, consequence string, execs ...string) error {
	if len(execs) == 0 {
		return nil
	}
	if err := s.Register(cmd.Context()); err != nil {
		s.Log.Debug().Err(err).Msg("what is registered cannot be seen")
	}
	return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), consequence, execs...)
}

// WarnUnregistered says on stderr which of some job_execs nobody seems to have, and what comes of that. It refuses nothing:
// the program that the workers run may have others than this one. A name is known where it is registered here, or where a
// check of it has run.
func (s *Session) WarnUnregistered(ctx context.Context, stderr io.Writer, consequence string, execs ...string) error {
	ctx, cancel := context.WithTimeout(ctx, signsTime)
	defer cancel()
	registered := s.Execs()
	warned := 0
	var names ExecNames
	for _, name := range execs {
		names.Add(name)
	}
	for _, name := range names {
		if slices.Contains(registered, name) || name == prescient.AllExecs || name == prescient.AllEvents {
			continue
		}
		if warned == mostWarnings {
			return output.Say(stderr, "%s: warning: there may be more job_execs that nobody has", s.Program.Name)
		}
		why := "it is not registered here, and none of its checks has run of late"
		ran, err := s.hasRun(ctx, name)
		switch {
		case ran:
			continue
		case err != nil && len(registered) == 0:
			s.Log.Debug().Err(err).Str("job_exec", name).Msg("whether it has run cannot be seen")
			continue // nothing is known of any job_exec
		case err != nil:
			why = "it is not registered here; whether it has run cannot be seen"
		}
		warned++
		if err := output.Say(stderr, "%s: warning: nobody seems to have the job_exec %s%s (%s): %s", s.Program.Name, name,
			strings.Replace(value.Suggestion(name, registered), "; ", ", ", 1), why, consequence); err != nil {
			return err
		}
	}
	return nil
}

// hasRun looks for a check of a job_exec that was called, among the latest ends and those that come due next.
func (s *Session) hasRun(ctx context.Context, exec string) (bool, error) {
	filter := client.ListFilter{JobExec: exec, Limit: 100, Search: signsRead}
	called := func(job prescient.FutureJob) bool { return job.CheckCount+job.ErrorCount > 0 }
	pending, err := s.Client.Pending(ctx, s.DB, filter)
	if slices.ContainsFunc(pending, called) {
		return true, nil
	}
	if err != nil && !errors.Is(err, client.ErrSearched) {
		return false, fmt.Errorf("looking at pending checks: %w", err)
	}
	ends, err := s.Client.History(ctx, s.DB, filter)
	if slices.ContainsFunc(ends, func(e client.Ended) bool { return e.StartedAt != nil || called(e.FutureJob) }) {
		return true, nil
	}
	if err != nil && !errors.Is(err, client.ErrSearched) {
		return false, fmt.Errorf("looking at history: %w", err)
	}
	return false, nil
}
