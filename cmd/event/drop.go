package event

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/prescient/event"
)

func dropCommand(prog *program.Program) *cobra.Command {
	var c chosen
	var yes bool
	cmd := &cobra.Command{
		Use:     "drop NUMBER... | --topic TOPIC | --all --yes",
		Short:   "Delete events that brokers refused",
		Long:    `Deletes events that were set aside: they are never published. It prints how many; one that is not there any more is no failure.`,
		Example: fmt.Sprintf("  %[1]s event drop 4711\n  %[1]s event drop --topic orders.late --yes", prog.Name),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (c.all || c.topic != "") && !yes && !c.dryRun {
				return exit.Usage(errors.New("drop deletes them for good; give --yes if that is wanted"))
			}
			return change(cmd, prog, c, args, deed{"dropped", (*event.Outbox).Drop, (*event.Outbox).DropMatching})
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, delete all of them")
	return program.Reasoned(cmd)
}
