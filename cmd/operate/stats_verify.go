package operate

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/stats"
	"prescient/sql"
)

// hourFlags are the flags of stats verify and stats rebuild.
type hourFlags struct{ from, before string }

func (f *hourFlags) add(cmd *cobra.Command) {
	arguments.Time(cmd.Flags(), &f.from, "from", "hours from this one on: 2026-03-01 13:00 (UTC), now-2d (default all)")
	arguments.Time(cmd.Flags(), &f.before, "before", "hours before this time (default all)")
}

func statsVerify(prog *program.Program) *cobra.Command {
	var f hourFlags
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Compare the sums of hours with history",
		Long: `Counts the ends that history has of each hour that was summed up, page by page, and compares. Hours of which history was pruned are left
out. What was late to commit is summed up within a day, and differs until then. Exits with 11 where an hour differs; rebuild mends that,
unless other history of its day was pruned, and the hours' sums with it, after 90 days: what came later than that is in no sum.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return prog.Read(cmd, func(s *program.Session) error {
				from, before, err := s.Period(cmd.Context(), f.from, f.before)
				if err != nil {
					return err
				}
				c, err := stats.Verify(cmd.Context(), s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), from, before)
				if err != nil {
					return s.Explain(err)
				}
				p := output.To(cmd.OutOrStdout())
				if prog.JSON {
					p.JSON(c)
				} else {
					p.Say("%s compared with history, %s; of %d history was pruned", hours(c.Hours), words.Counted(len(c.Differ), "differs", "differ"), c.Pruned)
					for _, d := range c.Differ {
						p.Say("%s", d)
					}
				}
				if err := p.Err(); err != nil || len(c.Differ) == 0 {
					return err
				}
				return &exit.Error{Code: exit.CodeBad, Err: fmt.Errorf("%s from history", words.Counted(len(c.Differ), "hour differs", "hours differ")), Printed: true}
			})
		},
	}
	f.add(cmd)
	return cmd
}

func statsRebuild(prog *program.Program) *cobra.Command {
	var f hourFlags
	cmd := &cobra.Command{
		Use:   "rebuild --from TIME",
		Short: "Sum hours of history again",
		Long: `Sums the hours of a time again, in place of the sums that there are, and those of their days. Hours of which history was pruned are left
alone: it says how many. It waits while another process sums up.`,
		Example: fmt.Sprintf(`  %[1]s stats rebuild --from '2026-03-01 00:00' --before '2026-03-02 00:00'`, prog.Name),
		Args:    arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.from == "" && f.before == "" {
				return exit.Usage(errors.New("give --from or --before: which hours are to be summed again"))
			}
			return prog.Connect(cmd, func(s *program.Session) error { return rebuildStats(cmd.Context(), cmd, s, f) })
		},
	}
	f.add(cmd)
	return program.Reasoned(cmd)
}

// hours says how many there were.
func hours(n int) string { return words.Counted(n, "hour was", "hours were") }

func rebuildStats(ctx context.Context, cmd *cobra.Command, s *program.Session, f hourFlags) error {
	from, before, err := s.Period(ctx, f.from, f.before)
	if err != nil {
		return err
	}
	done, err := stats.Rebuild(ctx, s.DB, s.Config.TablePrefix, sql.Dialect(s.Config.Dialect), from, before)
	if err != nil {
		return s.Explain(err)
	}
	p := output.To(cmd.OutOrStdout())
	if s.Program.JSON {
		p.JSON(done)
	} else {
		p.Say("%s summed again; %s left alone, since history of them was pruned, all or in part", hours(done.Hours), words.Counted(done.Left, "was", "were"))
	}
	return p.Err()
}
