package checks

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
)

// ceiled is what slots ceil --json prints.
type ceiled struct {
	Time   time.Time `json:"time"`
	Slot   time.Time `json:"slot"`
	Served bool      `json:"served"`
}

func ceilCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "ceil TIME",
		Short: "Round a time up to its slot",
		Long: `Rounds a time up to its slot, as an insert does: at slots of 15 minutes, 13:05 is 13:15, and 13:15 stays.
A time of day alone is one of today, UTC. Asks no database: "now" is this machine's, and slots.resolution counts.`,
		Example: fmt.Sprintf(`  %[1]s slots ceil 13:05
  %[1]s slots ceil "2026-03-01 13:05" --slots-resolution 15m`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usage(fmt.Errorf("slots ceil takes one time, but was given %d; quote one with a blank in it", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return ceil(cmd, prog, args[0], time.Now()) },
	}
}

func ceil(cmd *cobra.Command, prog *program.Program, text string, now time.Time) error {
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	t, isClock := parseClock(text, now)
	if !isClock {
		if t, err = times.Parse(text, now); err != nil {
			return exit.Usage(fmt.Errorf("%w, or 13:05", err))
		}
	}
	slot := c.Grid.Ceil(t)
	is := ceiled{Time: t, Slot: slot, Served: c.Worker.Assignment.Serves(slot)}
	return output.Answer(cmd.OutOrStdout(), prog.JSON, is, "%s", slot.Format(time.RFC3339))
}
