package spool

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	files "prescient/jobs/spool"
	"prescient/slots"
)

func putCommand(prog *program.Program) *cobra.Command {
	var w arguments.When
	var grid slots.Grid
	cmd := &cobra.Command{
		Use:   "put DIR (--at TIME | --in DURATION) -- COMMAND [ARGUMENT]...",
		Short: "Have a command executed at a time, without a database",
		Long: `Writes a file that executes a command, with its arguments as they are, in the folder where put was called. It is there whole, or not at
all. The time is rounded up to a slot; one that is over goes to the next.`,
		Example: fmt.Sprintf("  %s spool put /var/spool/shop --in 3h -- ./remind order 42", prog.Name),
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 || cmd.ArgsLenAtDash() != 1 {
				return exit.Usage(errors.New("give the folder, then --, then the command and its arguments"))
			}
			now := time.Now()
			due, err := w.Resolve(now)
			if err != nil {
				return err
			}
			p, err := files.Put(files.Options{Dir: args[0], Grid: grid, Now: func() time.Time { return now }}, due, args[1:])
			if err != nil {
				return explain(err)
			}
			return output.Answer(cmd.OutOrStdout(), prog.JSON, p, "%s: in the slot %s (UTC)", p.Path, output.Stamp(p.Slot))
		},
	}
	w.AddFlags(cmd.Flags())
	gridFlag(cmd, &grid)
	return cmd
}
