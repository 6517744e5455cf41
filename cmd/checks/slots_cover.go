package checks

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/slots"
)

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
