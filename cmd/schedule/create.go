package schedule

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/schedule"
)

// putOff is what comes of a schedule whose job_exec nobody has.
const putOff = "workers put its runs off, further each time, until one has it"

func createCommand(prog *program.Program) *cobra.Command {
	var f definitionFlags
	cmd := &cobra.Command{
		Use:   "create ID CRONTAB... (--exec NAME | --topic TOPIC)",
		Short: "Create a schedule",
		Long: `Creates a schedule, which fires from now on whenever one of its crontabs says so: it runs a job_exec, or sends an
event to a topic. ` + "`schedule next --help`" + ` says what a crontab may be. Each is in quotes.

With --long its runs may outlive their slots, and --exec names a job_exec that the program registers for long runs. They keep
apart: --overlap says what becomes of an occurrence that comes while the run before it is under way, --tolerance by how much
two may start closer together than they are due, --quota how long one may take,
and --pool which workers may have them.

One that is there already with the same definition stays as it is, and is no failure; with another one the exit code is 6,
and update changes it.`,
		Example: fmt.Sprintf(`  %[1]s schedule create digest/42 '0 9 * * mon-fri' --zone Europe/Berlin --exec send-digest --payload '{"to": 42}'
  %[1]s schedule create report '@every 1d' --topic reports/daily --owner customer/42 --catch-up skip --expires 1h
  %[1]s schedule create export '@hourly' --exec export --long --overlap queue --quota 50m`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return exit.Usage(errors.New("schedule create takes an id and crontabs; give them, such as: digest '0 9 * * *'"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return create(cmd, prog, f, args[0], args[1:]) },
	}
	f.addFlags(cmd)
	return cmd
}

func create(cmd *cobra.Command, prog *program.Program, f definitionFlags, id string, crontabs []string) error {
	change, err := f.read(cmd, crontabs)
	if err != nil {
		return err
	}
	one := schedule.Schedule{ID: id}
	if f.exec+f.topic == "" {
		return exit.Usage(errors.New("give --exec, the name of the job_exec that it runs, or --topic, where it sends events"))
	}
	if err := change(&one); err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		created, err := s.Schedules.Create(cmd.Context(), s.DB, one)
		if err != nil {
			return s.Explain(err)
		}
		did, text := "kept", "kept: "+id+" is there already, with the same definition"
		if created {
			did, text = "created", "created: "+id+firstOf(cmd, s, id)
		}
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, definition.Done{ID: id, Did: did}, "%s", text)
		return errors.Join(err, warn(cmd, s, one.JobExec))
	})
}

// firstOf says when a schedule fires first; nothing where that cannot be seen.
func firstOf(cmd *cobra.Command, s *program.Session, id string) string {
	due, err := s.Schedules.Timers(cmd.Context(), s.DB, id)
	if err != nil { // it was created, all the same
		s.Log.Debug().Err(err).Msg("when it fires cannot be seen")
	}
	first, waits := due[id]
	if !waits {
		return ""
	}
	return " fires first at " + output.Stamp(first) + " (UTC)"
}

// warn warns of job_execs that nobody has; of none where there is none.
func warn(cmd *cobra.Command, s *program.Session, execs ...string) error {
	return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), putOff, execs...)
}
