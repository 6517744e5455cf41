package operate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/stats"
	"prescient/sql"
)

func statsPercentiles(prog *program.Program) *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "percentiles",
		Short: "Show how long calls took and how late they were, over any time",
		Long: `Shows of the checks that ended in a time how long their last calls took and how late these began, by job_exec, within 5 %: from the sums of
whole days, which are kept for years, and of hours at the edges, which are kept 90 days. late is against the slot, after due against the due
time, with the wait for the slot in it. What ended in the last hour is not summed up yet.`,
		Example: fmt.Sprintf(`  %[1]s stats percentiles --from 2026-01-01 --before 2026-07-01 --exec order-unshipped`, prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return showPercentiles(cmd, prog, f) },
	}
	flags := cmd.Flags()
	arguments.Time(flags, &f.from, "from", "ends from this hour on: 2026-03-01 13:00 (UTC), now-30d; a week ago by default")
	arguments.Time(flags, &f.before, "before", "ends before this time; now by default")
	flags.StringVar(&f.exec, "exec", "", "only this job_exec")
	return cmd
}

func showPercentiles(cmd *cobra.Command, prog *program.Program, f statsFlags) error {
	return prog.Read(cmd, func(s *program.Session) error {
		from, before, err := s.Period(cmd.Context(), cmp.Or(f.from, "now-7d"), cmp.Or(f.before, "now"))
		if err != nil {
			return err
		}
		all, err := stats.Percentiles(cmd.Context(), s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), from, before)
		if err != nil {
			return s.Explain(err)
		}
		if f.exec != "" {
			all = slices.DeleteFunc(all, func(t stats.Times) bool { return t.JobExec != f.exec })
		}
		to := output.To(cmd.OutOrStdout())
		if prog.JSON {
			to.JSON(all)
			return to.Err()
		}
		span := fmt.Sprintf("ends from %s to before %s (UTC)", output.Stamp(from), output.Stamp(before))
		if len(all) == 0 {
			to.Say("No end is summed up: %s.", span)
			return to.Err()
		}
		columns := []output.Column{{Title: "job_exec"}, {Title: "ends", Right: true}}
		for _, title := range []string{"run p50", "p95", "p99", "longest", "late p50", "p95", "p99", "longest", "after due p50", "p95", "p99", "longest"} {
			columns = append(columns, output.Column{Title: title, Right: true})
		}
		var cells [][]string
		for _, t := range all {
			row := []string{words.Clean(t.JobExec), output.Count(t.Ends)}
			for _, q := range []stats.Quantiles{t.Run, t.Lateness, t.DueLateness} {
				row = append(row, millis(q.P50MS, t.Ends), millis(q.P95MS, t.Ends), millis(q.P99MS, t.Ends), millis(q.LongestMS, t.Ends))
			}
			cells = append(cells, row)
		}
		to.Table(span, columns, cells)
		return to.Err()
	})
}
