package cmd

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/prescient/client"
)

// load is a slot and what waits for it, as slots --json prints it.
type load struct {
	client.Load
	// State is overdue, now, or coming.
	State string `json:"state"`
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

func (a *app) slotsCommand() *cobra.Command {
	var f slotFlags
	cmd := &cobra.Command{
		Use:     "slots",
		GroupID: groupJobs,
		Short:   "Show how much is due at which slot, and do slot arithmetic",
		Long: `Shows how many checks wait for each slot, overdue ones first, and which of the slots this worker's assignment
(worker.minutes, worker.share) serves.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.slots(cmd, f) },
	}
	cmd.Flags().StringVar(&f.from, "from", "", "only slots at this time or later: 2026-03-01 13:00 (UTC), now")
	cmd.Flags().StringVar(&f.before, "before", "", "only slots before this time, such as now+1d")
	cmd.Flags().IntVar(&f.limit, "limit", 50, "slots to show, "+strconv.Itoa(client.MaxPage-1)+" at most")
	cmd.AddCommand(a.ceilCommand(), a.servedCommand(), a.coverCommand())
	return cmd
}

func (a *app) slots(cmd *cobra.Command, f slotFlags) error {
	if f.limit < 1 || f.limit >= client.MaxPage {
		return usage(errors.New("--limit " + strconv.Itoa(f.limit) + ": 1 to " + strconv.Itoa(client.MaxPage-1) + " are allowed"))
	}
	if err := errors.Join(checkTime("from", f.from), checkTime("before", f.before)); err != nil {
		return err
	}
	s, err := a.connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	rows, now, err := s.loads(cmd.Context(), f)
	if err != nil {
		return err
	}
	more := len(rows) > f.limit
	shown := rows[:min(len(rows), f.limit)]
	if a.json {
		return printLines(cmd.OutOrStdout(), shown)
	}
	if len(shown) == 0 {
		if f.from+f.before != "" {
			return say(cmd.OutOrStdout(), "nothing is pending in this time")
		}
		return say(cmd.OutOrStdout(), "nothing is pending")
	}
	if err := printTable(cmd.OutOrStdout(), loadColumns, loadCells(shown, now, isTerminal(cmd.OutOrStdout()))); err != nil {
		return err
	}
	if more {
		return say(cmd.ErrOrStderr(), "there are more: --from %s", rows[f.limit].Slot.Format(time.RFC3339))
	}
	return nil
}

// loads reads one slot more than is shown.
func (s *session) loads(ctx context.Context, f slotFlags) (rows []load, now time.Time, err error) {
	if now, err = s.now(ctx); err != nil {
		return nil, now, err
	}
	from, before := firstTime, lastTime
	if f.from != "" {
		from, err = parseTime(f.from, now)
	}
	if f.before != "" && err == nil {
		before, err = parseTime(f.before, now)
	}
	if err != nil {
		return nil, now, usage(err)
	}
	found, err := s.client.Load(ctx, s.db, from, before, f.limit+1)
	if err != nil {
		return nil, now, s.explain(err)
	}
	current := s.config.Grid.Floor(now)
	for _, l := range found {
		row := load{Load: l, State: "coming", Served: s.config.Worker.Assignment.Serves(l.Slot)}
		switch {
		case l.Slot.Before(current):
			row.State = "overdue"
		case l.Slot.Equal(current):
			row.State = "now"
		}
		rows = append(rows, row)
	}
	return rows, now, nil
}

var loadColumns = []column{{title: "slot (UTC)"}, {title: "in", right: true}, {title: "checks", right: true}, {title: ""},
	{title: "this worker"}}

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
		in := row.State
		if in == "coming" {
			in = row.Slot.Sub(now).Round(time.Second).String()
		}
		served := "no"
		if row.Served {
			served = "serves it"
		}
		bar := strings.Repeat(brick, max(row.Jobs*width/most, 1))
		cells = append(cells, []string{stamp(row.Slot), in, strconv.Itoa(row.Jobs), bar, served})
	}
	return cells
}
