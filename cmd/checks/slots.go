package checks

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
	"prescient/prescient/client"
)

// load is a slot and what waits for it, as slots --json prints it.
type load struct {
	client.Load
	// State is overdue, now, or coming.
	State client.LoadState `json:"state"`
	// Served is whether this worker's assignment has it.
	Served bool `json:"served"`
}

// slotFlags are the flags of slots.
type slotFlags struct {
	from, before string
	limit        int
}

// The ends of what a DATETIME column holds.
var (
	firstTime = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// Slots returns the command slots.
func Slots(prog *program.Program) *cobra.Command {
	var f slotFlags
	cmd := &cobra.Command{
		Use:   "slots",
		Short: "Show how much is due at which slot, and do slot arithmetic",
		Long: `Shows how many checks wait for each slot, overdue ones first, and which of the slots this worker's assignment
(worker.minutes, worker.share) serves. Up to 50,000 checks are counted; where more wait, it says about how many.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return showLoads(cmd, prog, f) },
	}
	arguments.Time(cmd.Flags(), &f.from, "from", "only slots at this time or later: 2026-03-01 13:00 (UTC), now")
	arguments.Time(cmd.Flags(), &f.before, "before", "only slots before this time, such as now+1d")
	arguments.Number(cmd.Flags(), &f.limit, "limit", 50, 1, client.MaxPage-1, "slots to show, "+strconv.Itoa(client.MaxPage-1)+" at most")
	cmd.AddCommand(ceilCommand(prog), servedCommand(prog), coverCommand(prog))
	return cmd
}

func showLoads(cmd *cobra.Command, prog *program.Program, f slotFlags) error {
	return prog.ReadEach(cmd, func(s *program.Session) error {
		rows, now, err := readLoads(cmd.Context(), s, f)
		if err != nil {
			return err
		}
		more := len(rows) > f.limit
		shown := rows[:min(len(rows), f.limit)]
		if prog.JSON {
			return output.Lines(cmd.OutOrStdout(), shown)
		}
		if len(shown) == 0 {
			if f.from+f.before != "" {
				return output.Say(cmd.OutOrStdout(), "nothing is pending in this time")
			}
			return output.Say(cmd.OutOrStdout(), "nothing is pending")
		}
		if err := output.Table(cmd.OutOrStdout(), loadColumns, loadCells(shown, now, output.IsTerminal(cmd.OutOrStdout()))); err != nil {
			return err
		}
		if more {
			return output.Say(cmd.ErrOrStderr(), "there are more: --from %s", rows[f.limit].Slot.Format(time.RFC3339))
		}
		return nil
	})
}

// readLoads reads one slot more than is shown.
func readLoads(ctx context.Context, s *program.Session, f slotFlags) (rows []load, now time.Time, err error) {
	if now, err = s.Now(ctx); err != nil {
		return nil, now, err
	}
	from, before := firstTime, lastTime
	if f.from != "" {
		from, err = times.Parse(f.from, now)
	}
	if f.before != "" && err == nil {
		before, err = times.Parse(f.before, now)
	}
	if err != nil {
		return nil, now, exit.Usage(err)
	}
	found, err := s.Client.Load(ctx, s.DB, from, before, f.limit+1)
	if err != nil {
		return nil, now, s.Explain(err)
	}
	for _, l := range found {
		rows = append(rows, load{Load: l, State: l.State(s.Config.Grid, now), Served: s.Config.Worker.Assignment.Serves(l.Slot)})
	}
	return rows, now, nil
}

var loadColumns = []output.Column{{Title: "slot (UTC)"}, {Title: "in", Right: true}, {Title: "checks", Right: true}, {Title: ""},
	{Title: "this worker"}}

// loadCells draws a bar for each slot, the longest for the one with most.
func loadCells(rows []load, now time.Time, terminal bool) (cells [][]string) {
	const width = 40
	brick := "#"
	if terminal {
		brick = "█"
	}
	most := 1
	for _, row := range rows {
		most = max(most, row.Jobs)
	}
	for _, row := range rows {
		in := string(row.State)
		if row.State == client.LoadComing {
			in = row.Slot.Sub(now).Round(time.Second).String()
		}
		served := "no"
		if row.Served {
			served = "serves it"
		}
		bar := strings.Repeat(brick, max(row.Jobs*width/most, 1))
		checks := strconv.Itoa(row.Jobs)
		if row.About {
			checks = "about " + checks
		}
		cells = append(cells, []string{output.Stamp(row.Slot), in, checks, bar, served})
	}
	return cells
}
