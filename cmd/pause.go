package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"prescient/prescient"
)

// pauseFlags are the flags of pause and resume.
type pauseFlags struct {
	all, list  bool
	by, reason string
}

func (a *app) pauseCommand() *cobra.Command {
	var f pauseFlags
	cmd := &cobra.Command{
		Use:     "pause [JOB_EXEC]...",
		GroupID: groupServe,
		Short:   "Pause job_execs, or everything, until resume",
		Long: `Pauses job_execs from the next slot run on: what is due of them goes to the next slot, slot after slot, without
a call, and is otherwise as it was. With --all everything is paused: workers and the sweeper do nothing but look, and
rows stay where they are; after resume the sweeper catches up, oldest first. Inserts and cancels go on in both cases,
and calls that have begun go on. Nothing is lost. A job_exec that nobody seems to have is paused too, with a warning on
stderr.

Without arguments, and with --list, it lists what is paused.`,
		Example: fmt.Sprintf(`  %[1]s pause order-unshipped --reason 'the carrier is down'
  %[1]s pause --all --reason 'moving the database'
  %[1]s pause --list`, a.options.Program),
		RunE: func(cmd *cobra.Command, args []string) error { return a.pause(cmd, f, args) },
	}
	cmd.Flags().BoolVar(&f.all, "all", false, "pause everything")
	cmd.Flags().BoolVar(&f.list, "list", false, "only list what is paused")
	cmd.Flags().StringVar(&f.by, "by", "", "who pauses it (default the user, by USER in the environment)")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why")
	return cmd
}

func (a *app) resumeCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:     "resume JOB_EXEC... | --all",
		GroupID: groupServe,
		Short:   "End a pause",
		Long: `Ends the pause of job_execs, or with --all that of everything; job_execs that were paused by their names stay so.
What came due meanwhile runs with the next slot, or with the next sweep. That nothing was paused is no failure.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.resume(cmd, all, args) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "end the pause of everything")
	return cmd
}

func (a *app) pause(cmd *cobra.Command, f pauseFlags, execs []string) error {
	if f.all {
		execs = append(execs, prescient.AllExecs)
	}
	switch {
	case f.list && len(execs) > 0:
		return usage(errors.New("--list pauses nothing; leave it out, or the rest"))
	case !f.all && slices.Contains(execs, prescient.AllExecs):
		return usage(errors.New("give --all to pause everything"))
	}
	s, err := a.connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	if user, ok := a.options.Env("USER"); ok && f.by == "" {
		f.by = user
	}
	for _, name := range execs {
		err := s.client.Pause(cmd.Context(), s.db, prescient.Paused{JobExec: name, By: f.by, Reason: f.reason})
		if err != nil {
			return s.explain(err)
		}
	}
	if err := s.printPauses(cmd.Context(), cmd.OutOrStdout()); err != nil || len(execs) == 0 {
		return err
	}
	// Only now: the pause does not depend on it.
	if err := s.register(cmd.Context()); err != nil {
		s.log.Debug().Err(err).Msg("what is registered cannot be seen")
	}
	return s.warnUnregistered(cmd.Context(), cmd.ErrOrStderr(), "if it is misspelt, this pause stops nothing", execs...)
}

func (a *app) resume(cmd *cobra.Command, all bool, execs []string) error {
	if all {
		execs = append(execs, prescient.AllExecs)
	}
	if len(execs) == 0 {
		return usage(errors.New("give the job_execs to resume, or --all"))
	}
	s, err := a.connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	resumed, err := s.client.Resume(cmd.Context(), s.db, execs...)
	if err != nil {
		return s.explain(err)
	}
	if !a.json {
		if err := say(cmd.OutOrStdout(), "ended %d pauses", resumed); err != nil {
			return err
		}
	}
	return s.printPauses(cmd.Context(), cmd.OutOrStdout())
}

// printPauses prints what is paused now.
func (s *session) printPauses(ctx context.Context, out io.Writer) error {
	list, err := s.client.Pauses(ctx, s.db)
	switch {
	case err != nil:
		return s.explain(err)
	case s.app.json:
		return printLines(out, list)
	case len(list) == 0:
		return say(out, "nothing is paused")
	}
	var cells [][]string
	for _, p := range list {
		name := clean(p.JobExec)
		if p.JobExec == prescient.AllExecs {
			name = "(everything)"
		}
		cells = append(cells, []string{name, stamp(p.Since.Truncate(time.Second)), clip(p.By, 30), clip(p.Reason, 80)})
	}
	return printTable(out, []column{{title: "paused"}, {title: "since (UTC)"}, {title: "by"}, {title: "reason"}}, cells)
}
