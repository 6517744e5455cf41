package operate

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/forecast"
	"prescient/sql"
)

// Forecast returns the command forecast.
func Forecast(prog *program.Program) *cobra.Command {
	var days bool
	cmd := &cobra.Command{
		Use:        "forecast",
		SuggestFor: []string{"capacity", "plan", "ahead"},
		Short:      "Show what the slots and days to come are to do, and whether they end in time",
		Long: `Shows how many checks are pending for each of the next slots, or with --days for each of the next days, what schedules are yet to fire, and when
the last call of a slot is to start and end. One process of work, run or sweep makes the forecast each minute; the heading says when. Empty slots
are left out. Of later days the busiest slots are there that do not end in time.

counted says how: exact; sample, by a share of the keys, which is off by at most what low and high say, 19 times of 20; optimiser, an estimate
of the server's where the sample has too few, mostly within a factor of 2; least, that there are more. come back are checks that are to move or to be retried, at the rate of
the last day: they are not among those of later slots. occurrences are those of schedules that are not pending yet; of more than 500 schedules
the first 500 stand for all. What apps are to insert is not in it.

A slot ends in time where it is done before the next begins, and its last call starts within the SLA of its job_execs. That goes by run times of the last day
and the concurrency of the agents that live, at full pace. The server's own part is not in it, nor what takes rows in batches, nor what was
not called in the last day: these calls are under unknown. Where they are more than a tenth, nobody knows whether it ends in time.`,
		Example: fmt.Sprintf(`  %[1]s forecast
  %[1]s forecast --days --json`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return showForecast(cmd, prog, days) },
	}
	cmd.Flags().BoolVar(&days, "days", false, "the next days in place of the next slots")
	return cmd
}

func showForecast(cmd *cobra.Command, prog *program.Program, days bool) error {
	return prog.ReadEach(cmd, func(s *program.Session) error {
		report, err := forecast.Read(cmd.Context(), s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect))
		if errors.Is(err, forecast.ErrNone) {
			return &exit.Error{Code: exit.CodeNotFound, Err: fmt.Errorf("%w: a process of work, run or sweep makes one within a minute", err)}
		}
		if err != nil {
			return s.Explain(err)
		}
		to := output.To(cmd.OutOrStdout())
		if prog.JSON {
			to.JSON(report)
		} else {
			printForecast(to, report, days)
		}
		return to.Err()
	})
}

func printForecast(to *output.Printer, r forecast.Report, days bool) {
	to.Say("made %s ago by %s; not in it: what apps are to insert", r.Age.Duration().Round(time.Second), words.Clean(r.Worker))
	parts, title, layout := r.Slots, "slot", "2006-01-02 15:04:05"
	if days {
		parts, title, layout = r.Days, "day", "2006-01-02"
	}
	if r.Schedules < r.SchedulesAll {
		to.Say("%s schedules stand for about %s", output.Count(r.Schedules), output.Count(r.SchedulesAll))
	}
	var cells, lines [][]string
	for _, p := range parts {
		if p.Due == 0 && p.Occurrences == 0 {
			continue
		}
		start := p.Start.UTC().Format(layout)
		low, high := bounds(p.How, p.Low, p.High)
		cells = append(cells, []string{start, output.Count(p.Due), low, high, string(p.How), output.Count(p.Occurrences), output.Count(p.Unknown), output.Second(p.LastStartAt), output.Second(p.EndsAt), inTime(p)})
		for _, l := range p.Lines {
			low, high := bounds(l.How, l.Low, l.High)
			lines = append(lines, []string{start, words.Clean(l.JobExec), output.Count(l.Due), low, high, output.Count(l.Repeats), output.Count(l.Occurrences)})
		}
	}
	if len(cells) == 0 {
		to.Say("Nothing is pending for these %ss, and no schedule is to fire.", title)
		return
	}
	to.Table("", []output.Column{{Title: title}, {Title: "due", Right: true}, {Title: "low", Right: true}, {Title: "high", Right: true}, {Title: "counted"}, {Title: "occurrences", Right: true},
		{Title: "unknown", Right: true}, {Title: "last start"}, {Title: "ends"}, {Title: "in time"}}, cells)
	to.Table("\nby job_exec", []output.Column{{Title: title}, {Title: "job_exec"}, {Title: "due", Right: true}, {Title: "low", Right: true}, {Title: "high", Right: true},
		{Title: "come back", Right: true}, {Title: "occurrences", Right: true}}, lines)
}

// bounds are what is said of how far off a number may be.
func bounds(how forecast.How, low, high int64) (from, to string) {
	if how != forecast.Sampled {
		return "", ""
	}
	return output.Count(low), output.Count(high)
}

// inTime says whether a slot or day ends in time.
func inTime(p forecast.Part) string {
	over := p.Over.Duration().Round(time.Second)
	switch p.Verdict {
	case forecast.Next:
		return fmt.Sprintf("no: %s after the next begins", over)
	case forecast.SLA:
		return fmt.Sprintf("no: %s past the SLA of %s", over, words.Clean(p.Fit.JobExec))
	case forecast.Unserved:
		return "no live agent serves it"
	case forecast.Unknown:
		return "not known"
	}
	return "yes"
}
