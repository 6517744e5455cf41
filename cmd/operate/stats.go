package operate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/stats"
	"prescient/sql"
)

// statsFlags are the flags of stats.
type statsFlags struct {
	from, before, exec string
}

// Stats returns the command stats.
func Stats(prog *program.Program) *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what became of checks by job_exec: calls, errors and why, run times, lateness",
		Long: fmt.Sprintf(`Shows what became of the checks of the slots of a time, by job_exec, those with most errors first. Workers write this with each
commit, so it also has calls whose checks go on; prune deletes it with the ledger.

errors are calls that answered with an error, timed out or panicked. unsettled are checks that ended otherwise than as done. put off are checks
that went to a later slot without a call. late is from the slot to the start of a call. Times are of buckets of 5 %%; p95 is what 95 of a hundred
do not exceed. failing since is the first slot from which on each slot that had calls had one that failed.

Below the table stand the commonest reasons, with one whole example each; … is in the place of what differs. At most %d lines of the books are
read, the latest: where there are more, the heading says from when on.

slower than before are job_execs, and steps of jobs, whose run times have left what their own last weeks show, whatever the time that is asked
for: suddenly, or day by day. Days are UTC, and over; a rise is seen after two of them, and after five weeks it is what is usual.`, stats.MaxLines),
		Example: fmt.Sprintf(`  %[1]s stats
  %[1]s stats --from now-1d --exec order-unshipped --json`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return showStats(cmd, prog, f) },
	}
	flags := cmd.Flags()
	arguments.Time(flags, &f.from, "from", "slots at this time or later: 2026-03-01 13:00 (UTC), now-1d; an hour ago by default")
	arguments.Time(flags, &f.before, "before", "slots before this time; now by default")
	flags.StringVar(&f.exec, "exec", "", "only this job_exec")
	cmd.AddCommand(statsPercentiles(prog), statsVerify(prog), statsRebuild(prog))
	return cmd
}

func showStats(cmd *cobra.Command, prog *program.Program, f statsFlags) error {
	return prog.ReadEach(cmd, func(s *program.Session) error {
		from, before, err := s.Period(cmd.Context(), cmp.Or(f.from, "now-1h"), cmp.Or(f.before, "now"))
		if err != nil {
			return err
		}
		report, err := stats.Execs(cmd.Context(), s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), from, before)
		if err != nil {
			return s.Explain(err)
		}
		slow, err := stats.Slow(cmd.Context(), s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect))
		if err != nil {
			return s.Explain(err)
		}
		if f.exec != "" {
			report.Execs = slices.DeleteFunc(report.Execs, func(e stats.Exec) bool { return e.JobExec != f.exec })
			slow.Slower = slices.DeleteFunc(slow.Slower, func(e stats.Slower) bool { return e.JobExec != f.exec })
		}
		to := output.To(cmd.OutOrStdout())
		if prog.JSON {
			to.JSON(struct {
				stats.Report
				Slower []stats.Slower `json:"slower"`
			}{report, slow.Slower})
		} else {
			printStats(to, report)
			printSlower(to, slow)
		}
		return to.Err()
	})
}

func printStats(to *output.Printer, report stats.Report) {
	span := fmt.Sprintf("slots from %s to before %s (UTC)", output.Stamp(report.From), output.Stamp(report.Before))
	if report.Cut {
		span += "; earlier ones were not read"
	}
	if len(report.Execs) == 0 {
		to.Say("Nothing became of any check: %s.", span)
		return
	}
	var cells, reasons [][]string
	for _, e := range report.Execs {
		cells = append(cells, []string{words.Clean(e.JobExec), output.Count(e.Calls), output.Count(e.Errors), share(e), output.Count(e.Ends[prescient.Done]), output.Count(e.Unsettled()),
			output.Count(e.Moved), output.Count(e.PutOff.Sum()), millis(e.Run.P50MS, e.Calls), millis(e.Run.P95MS, e.Calls), millis(e.Lateness.P95MS, e.Calls), output.Second(e.FailsSince)})
		for _, r := range e.Reasons {
			reasons = append(reasons, []string{words.Clean(e.JobExec), output.Count(r.Checks), words.Clean(r.Text), words.Clip(r.Example.EntityKey, 40), words.Clean(r.Example.Error)})
		}
	}
	to.Table(span, []output.Column{{Title: "job_exec"}, {Title: "calls", Right: true}, {Title: "errors", Right: true}, {Title: "of calls", Right: true}, {Title: "done", Right: true},
		{Title: "unsettled", Right: true}, {Title: "moved", Right: true}, {Title: "put off", Right: true}, {Title: "run p50", Right: true}, {Title: "p95", Right: true},
		{Title: "late p95", Right: true}, {Title: "failing since"}}, cells)
	if len(reasons) > 0 {
		to.Table("\nwhy", []output.Column{{Title: "job_exec"}, {Title: "checks", Right: true}, {Title: "reason"}, {Title: "such as"}, {Title: "whose error was", Long: true}}, reasons)
	}
}

func printSlower(to *output.Printer, slow stats.SlowerReport) {
	if len(slow.Slower) == 0 {
		return
	}
	var cells [][]string
	for _, s := range slow.Slower {
		step := ""
		if s.Step != "" {
			step = words.Clean(s.Job) + " / " + words.Clean(s.Step)
		}
		cells = append(cells, []string{words.Clean(s.JobExec), step, string(s.Kind), s.Since.Format("2006-01-02"), output.Millis(s.FromMS), output.Millis(s.ToMS)})
	}
	to.Table("\nslower than before", []output.Column{{Title: "job_exec"}, {Title: "job / step"}, {Title: "rise"}, {Title: "since"}, {Title: "run p50 before", Right: true},
		{Title: "now", Right: true}}, cells)
}

func share(e stats.Exec) string {
	if e.Errors == 0 {
		return ""
	}
	return strconv.FormatFloat(100*e.Share(), 'f', 1, 64) + " %"
}

func millis(ms int64, of uint64) string {
	if of == 0 {
		return ""
	}
	return output.Millis(ms)
}
