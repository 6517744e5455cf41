package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
)

// pauseFlags are the flags of pause and resume.
type pauseFlags struct {
	all, events, list bool
	by, reason        string
}

// Pause returns the command pause.
func Pause(prog *program.Program) *cobra.Command {
	var f pauseFlags
	cmd := &cobra.Command{
		Use:   "pause [JOB_EXEC]...",
		Short: "Pause job_execs, events, or everything, until resume",
		Long: `Pauses job_execs from the next slot run on: what is due of them goes to the next slot, slot after slot, without
a call, and is otherwise as it was. With --all everything is paused: workers, the sweeper and forwarders do nothing but look,
and rows and events stay where they are; after resume the sweeper catches up, oldest first. With --events only forwarders
are paused: slots run, and what they and apps publish waits in the outbox. Forwarders see it with their next look,
within events.poll, or within 5s where that takes long. Inserts and cancels go on in all cases, and calls and publications that have
begun go on. Nothing is lost. A job_exec that nobody seems to have is paused too, with a warning on
stderr.

Without arguments, and with --list, it lists what is paused.`,
		Example: fmt.Sprintf(`  %[1]s pause order-unshipped --reason 'the carrier is down'
  %[1]s pause --all --reason 'moving the database'
  %[1]s pause --events --reason 'this is a clone'
  %[1]s pause --list`, prog.Name),
		RunE: func(cmd *cobra.Command, args []string) error { return pause(cmd, prog, f, args) },
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "pause everything, events too")
	cmd.Flags().BoolVar(&f.events, "events", false, "pause what forwarders publish")
	cmd.Flags().BoolVar(&f.list, "list", false, "only list what is paused")
	cmd.Flags().StringVar(&f.by, "by", "", "who pauses it (default --person, or the user of the system)")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why")
	return program.Reasoned(cmd)
}

func pause(cmd *cobra.Command, prog *program.Program, f pauseFlags, execs []string) error {
	execs, err := pauseNames(execs, f.all, f.events)
	switch {
	case err != nil:
		return err
	case f.list && len(execs) > 0:
		return exit.Usage(errors.New("--list pauses nothing; leave it out, or the rest"))
	}
	return prog.ConnectEach(cmd, func(s *program.Session) error {
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
		return s.WarnMisspelt(cmd, "if it is misspelt, this pause stops nothing", execs...) // only now: the pause does not depend on it
	})
}

// pauseNames are the names that pause and resume write.
func pauseNames(execs []string, all, events bool) ([]string, error) {
	switch {
	case slices.Contains(execs, prescient.AllExecs):
		return nil, exit.Usage(errors.New("give --all for everything"))
	case slices.Contains(execs, prescient.AllEvents):
		return nil, exit.Usage(errors.New("give --events for events"))
	}
	if all {
		execs = append(execs, prescient.AllExecs)
	}
	if events {
		execs = append(execs, prescient.AllEvents)
	}
	return execs, nil
}

// printPauses prints what is paused now.
func printPauses(ctx context.Context, s *program.Session, out io.Writer) error {
	list, err := s.Client.Pauses(ctx, s.DB)
	if err != nil {
		return s.Explain(err)
	}
	return output.Rows(out, s.Program.JSON, list, "nothing is paused", []output.Column{{Title: "paused"}, {Title: "since (UTC)"}, {Title: "by"}, {Title: "reason"}}, pauseCells)
}

func pauseCells(p prescient.Paused) []string {
	name := words.Clean(p.JobExec)
	switch p.JobExec {
	case prescient.AllExecs:
		name = "(everything)"
	case prescient.AllEvents:
		name = "(events)"
	}
	return []string{name, output.Second(&p.Since), words.Clip(p.By, 30), words.Clip(p.Reason, 80)}
}
