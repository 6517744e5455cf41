package checks

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/times"
	"prescient/slots"
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
	if prog.JSON {
		return output.JSON(cmd.OutOrStdout(), ceiled{Time: t, Slot: slot, Served: c.Worker.Assignment.Serves(slot)})
	}
	return output.Say(cmd.OutOrStdout(), "%s", slot.Format(time.RFC3339))
}

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
	cmd.Flags().IntVar(&count, "limit", 10, "slots to show, 10000 at most")
	return cmd
}

func listServed(cmd *cobra.Command, prog *program.Program, from string, count int, now time.Time) error {
	t, err := times.Parse(from, now)
	switch {
	case err != nil:
		return exit.Usage(fmt.Errorf("--from: %w", err))
	case count < 1 || count > 10000:
		return exit.Usage(errors.New("--limit " + strconv.Itoa(count) + ": 1 to 10000 are allowed"))
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
		if prog.JSON {
			err = output.JSON(out, served{slot})
		} else {
			err = output.Say(out, "%s", slot.Format(time.RFC3339))
		}
		if err != nil {
			return err
		}
		count--
	}
	return nil
}

// coverReport is what slots cover --json prints; the offsets are from the start of a period.
type coverReport struct {
	PeriodSeconds int64     `json:"period_s"`
	Unserved      []int64   `json:"unserved_s"`
	Doubled       []overlap `json:"doubled"`
}

type overlap struct {
	OffsetSeconds int64    `json:"offset_s"`
	Assignments   []string `json:"assignments"`
}

func coverCommand(prog *program.Program) *cobra.Command {
	var minutes, shares []string
	cmd := &cobra.Command{
		Use:   "cover --minutes LIST... --share N/OF...",
		Short: "Say which slots several workers leave out, and which they share",
		Long: `Puts the assignments of several workers side by side, and says which slots none of them serves and which more
than one does. Slots that nobody serves are a failure: the exit code is then 1. Asks no database.`,
		Example: fmt.Sprintf(`  %s slots cover --minutes 0,30 --minutes 15,45`, prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cover(cmd, prog, minutes, shares) },
	}
	cmd.Flags().StringArrayVar(&minutes, "minutes", nil, "minutes of the UTC hour that a worker serves; once for each worker")
	cmd.Flags().StringArrayVar(&shares, "share", nil, "share of the slots that a worker serves; once for each worker")
	return cmd
}

func cover(cmd *cobra.Command, prog *program.Program, minutes, shares []string) error {
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	var list []slots.Assignment
	parse := func(flag string, texts []string, read func(slots.Grid, string) (slots.Assignment, error)) {
		for _, text := range texts {
			assignment, problem := read(c.Grid, text)
			if problem != nil && err == nil {
				err = exit.Usage(fmt.Errorf("--%s: %w", flag, problem))
			}
			list = append(list, assignment)
		}
	}
	parse("minutes", minutes, slots.ParseMinutes)
	parse("share", shares, slots.ParseShare)
	switch {
	case err != nil:
		return err
	case len(list) == 0:
		return exit.Usage(errors.New("give --minutes or --share for each worker"))
	}
	coverage, err := slots.Cover(list...)
	if err != nil {
		return exit.Usage(err)
	}
	if prog.JSON {
		err = output.JSON(cmd.OutOrStdout(), reportCoverage(coverage, list))
	} else {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), coverage.Describe(func(i int) string { return list[i].String() }))
	}
	if err == nil && len(coverage.Unserved) > 0 {
		return &exit.Error{Code: exit.CodeFailure, Err: errors.New("not every slot is served"), Printed: true}
	}
	return err
}

func reportCoverage(coverage slots.Coverage, list []slots.Assignment) coverReport {
	report := coverReport{PeriodSeconds: int64(coverage.Period / time.Second), Unserved: []int64{}, Doubled: []overlap{}}
	for _, offset := range coverage.Unserved {
		report.Unserved = append(report.Unserved, int64(offset/time.Second))
	}
	for _, double := range coverage.Doubled {
		o := overlap{OffsetSeconds: int64(double.Offset / time.Second)}
		for _, i := range double.Assignments {
			o.Assignments = append(o.Assignments, list[i].String())
		}
		report.Doubled = append(report.Doubled, o)
	}
	return report
}
