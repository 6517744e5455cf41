package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
)

// pauseFlags are the flags of pause and resume.
type pauseFlags struct {
	all, list  bool
	by, reason string
}

// Pause returns the command pause.
func Pause(prog *program.Program) *cobra.Command {
	var f pauseFlags
	cmd := &cobra.Command{
		Use:   "pause [JOB_EXEC]...",
		Short: "Pause job_execs, or everything, until resume",
		Long: `Pauses job_execs from the next slot run on: what is due of them goes to the next slot, slot after slot, without
a call, and is otherwise as it was. With --all everything is paused: workers and the sweeper do nothing but look, and
rows stay where they are; after resume the sweeper catches up, oldest first. Inserts and cancels go on in both cases,
and calls that have begun go on. Nothing is lost. A job_exec that nobody seems to have is paused too, with a warning on
stderr.

Without arguments, and with --list, it lists what is paused.`,
		Example: fmt.Sprintf(`  %[1]s pause order-unshipped --reason 'the carrier is down'
  %[1]s pause --all --reason 'moving the database'
  %[1]s pause --list`, prog.Name),
		RunE: func(cmd *cobra.Command, args []string) error { return pause(cmd, prog, f, args) },
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "pause everything")
	cmd.Flags().BoolVar(&f.list, "list", false, "only list what is paused")
	cmd.Flags().StringVar(&f.by, "by", "", "who pauses it (default --person, or the user of the system)")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why")
	return program.Reasoned(cmd)
}

func pause(cmd *cobra.Command, prog *program.Program, f pauseFlags, execs []string) error {
	if f.all {
		execs = append(execs, prescient.AllExecs)
	}
	switch {
	case f.list && len(execs) > 0:
		return exit.Usage(errors.New("--list pauses nothing; leave it out, or the rest"))
	case !f.all && slices.Contains(execs, prescient.AllExecs):
		return exit.Usage(errors.New("give --all to pause everything"))
	}
	s, err := prog.Connect(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	f.by = cmp.Or(f.by, prog.Person(s.Config))
	for _, name := range execs {
		err := s.Client.Pause(cmd.Context(), s.DB, prescient.Paused{JobExec: name, By: f.by, Reason: f.reason})
		if err != nil {
			return s.Explain(err)
		}
	}
	if err := printPauses(cmd.Context(), s, cmd.OutOrStdout()); err != nil || len(execs) == 0 {
		return err
	}
	// Only now: the pause does not depend on it.
	if err := s.Register(cmd.Context()); err != nil {
		s.Log.Debug().Err(err).Msg("what is registered cannot be seen")
	}
	return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), "if it is misspelt, this pause stops nothing", execs...)
}

// printPauses prints what is paused now.
func printPauses(ctx context.Context, s *program.Session, out io.Writer) error {
	list, err := s.Client.Pauses(ctx, s.DB)
	switch {
	case err != nil:
		return s.Explain(err)
	case s.Program.JSON:
		return output.Lines(out, list)
	case len(list) == 0:
		return output.Say(out, "nothing is paused")
	}
	var cells [][]string
	for _, p := range list {
		name := words.Clean(p.JobExec)
		if p.JobExec == prescient.AllExecs {
			name = "(everything)"
		}
		cells = append(cells, []string{name, output.Stamp(p.Since.Truncate(time.Second)), words.Clip(p.By, 30), words.Clip(p.Reason, 80)})
	}
	return output.Table(out, []output.Column{{Title: "paused"}, {Title: "since (UTC)"}, {Title: "by"}, {Title: "reason"}}, cells)
}
