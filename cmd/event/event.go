package event

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

// Command returns the command event.
func Command(prog *program.Program) *cobra.Command {
	event := &cobra.Command{
		Use:        "event",
		SuggestFor: []string{"resend", "drop", "set-aside", "outbox"},
		Short:      "See what waits in the outbox, and send again what brokers refused",
		Long: `Apps, job_execs and schedules put events into the outbox, in their transactions. work and forward publish them to the
brokers of events.routes. An event that a broker refuses for good is set aside, with the reason.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	event.AddCommand(statusCommand(prog), setAsideCommand(prog), resendCommand(prog), dropCommand(prog))
	return event
}
