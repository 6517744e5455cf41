package checks

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
)

// served is what slots served --json prints.
type served struct {
	Slot time.Time `json:"slot"`
}

func servedCommand(prog *program.Program) *cobra.Command {
	var from string
	var count int
	cmd := &cobra.Command{
		Use:   "served",
		Short: "Show the slots that this worker's assignment serves next",
		Long: `Shows the slots that worker.minutes or worker.share makes this worker serve next. Asks no database: "now" is
this machine's.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return listServed(cmd, prog, from, count, time.Now()) },
	}
	cmd.Flags().StringVar(&from, "from", "now", "from this time on: 2026-03-01 13:00 (UTC), now+1h")
	arguments.Number(cmd.Flags(), &count, "limit", 10, 1, 10000, "slots to show, 10000 at most")
	return cmd
}

func listServed(cmd *cobra.Command, prog *program.Program, from string, count int, now time.Time) error {
	t, err := times.Parse(from, now)
	if err != nil {
		return exit.Usage(fmt.Errorf("--from: %w", err))
	}
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if !prog.JSON {
		if err := output.Say(cmd.ErrOrStderr(), "%s, at a resolution of %s", c.Worker.Assignment.String(), c.Grid.String()); err != nil {
			return err
		}
	}
	// A slot at the very time counts.
	for slot := c.Worker.Assignment.Next(t.Add(-1)); count > 0; slot = c.Worker.Assignment.Next(slot) {
		if err := output.Answer(out, prog.JSON, served{slot}, "%s", slot.Format(time.RFC3339)); err != nil {
			return err
		}
		count--
	}
	return nil
}
