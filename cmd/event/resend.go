package event

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/program"
	"prescient/prescient/event"
)

func resendCommand(prog *program.Program) *cobra.Command {
	var c chosen
	cmd := &cobra.Command{
		Use:   "resend NUMBER... | --topic TOPIC | --all",
		Short: "Publish again what brokers refused",
		Long: `Puts events that were set aside into the outbox again, behind what is there. Their ids stay what they were. It prints how
many; one that is not there any more is no failure.`,
		Example: fmt.Sprintf("  %[1]s event resend 4711 4712\n  %[1]s event resend --topic orders.late", prog.Name),
		RunE: func(cmd *cobra.Command, args []string) error {
			return change(cmd, prog, c, args, deed{"resent", (*event.Outbox).Resend, (*event.Outbox).ResendMatching})
		},
	}
	c.flags(cmd)
	return program.Reasoned(cmd)
}
