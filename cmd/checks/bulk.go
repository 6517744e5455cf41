package checks

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/worker"
)

// Bulk returns the command bulk.
func Bulk(prog *program.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bulk",
		Short: "See, stop and go on with what is done to all checks that a filter matched",
		Long: `Each cancel or reschedule of all checks that match, and each preview of the API, has a number here. Who asked for it, why, and which checks it
was done to stands in the audit: audit --kind bulk.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bulkList(prog), bulkStop(prog), bulkWork(prog))
	return cmd
}

func bulkList(prog *program.Program) *cobra.Command {
	var limit int
	var t target
	cmd := &cobra.Command{
		Use:   "list [--entity NAME/KEY --exec NAME]",
		Short: "List them, the latest first, or those that took one check",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var of prescient.Entity
			if t != (target{}) {
				var err error
				if of, err = t.parse(); err != nil {
					return err
				}
			}
			return prog.Read(cmd, func(s *program.Session) error {
				list := func() ([]bulk.Run, error) { return bulk.New(s.Client).List(cmd.Context(), s.DB, 0, limit) }
				if t != (target{}) {
					list = func() ([]bulk.Run, error) {
						return bulk.New(s.Client).OfCheck(cmd.Context(), s.DB, prescient.KeyOf(of, t.exec, t.tag))
					}
				}
				runs, err := list()
				if err != nil {
					return s.Explain(err)
				}
				return output.Rows(cmd.OutOrStdout(), prog.JSON, runs, "there is none", bulkColumns, bulkCells)
			})
		},
	}
	t.addFlags(cmd)
	arguments.Number(cmd.Flags(), &limit, "limit", defaultLimit, 1, 1000, "how many, 1000 at most")
	return cmd
}

var bulkColumns = []output.Column{{Title: "number", Right: true}, {Title: "deed"}, {Title: "checks"}, {Title: "by"}, {Title: "state"}, {Title: "matched", Right: true},
	{Title: "done", Right: true}, {Title: "left out", Right: true}, {Title: "since (UTC)"}, {Title: "error"}}

func bulkCells(r bulk.Run) []string {
	since := r.Cutoff
	if r.StartedAt != nil {
		since = *r.StartedAt
	}
	return []string{strconv.FormatUint(r.Number, 10), words.Clean(string(r.Deed)), words.Clip(r.Filter.String(), 60), words.Clip(r.Person, 30), r.State(), output.Count(r.Matched), output.Count(r.Done),
		output.Count(r.LeftOut), output.Second(&since), words.Clip(r.Error, 60)}
}

func bulkStop(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "stop NUMBER",
		Short: "Stop one after its present batch; what it did stays done",
		Args:  arguments.One("the number of a bulk run, as 'bulk list' has it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, err := strconv.ParseUint(args[0], 10, 63)
			if err != nil {
				return exit.Usage(fmt.Errorf("number %.40q: give one as 'bulk list' has them", args[0]))
			}
			return prog.Connect(cmd, func(s *program.Session) error {
				all := bulk.New(s.Client)
				if err := all.Stop(cmd.Context(), s.DB, number); err != nil {
					return s.Explain(err)
				}
				run, err := all.Get(cmd.Context(), s.DB, number)
				if err != nil {
					return s.Explain(err)
				}
				return output.Answer(cmd.OutOrStdout(), prog.JSON, run, "bulk run %d: %s, %d done", number, run.State(), run.Done)
			})
		},
	}
}

func bulkWork(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "work",
		Short: "Go on with those that are under way and that no process works on",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
				did := make(map[uint64]uint64)
				err := bulk.New(s.Client).Work(cmd.Context(), s.DB, worker.NewName(), func(r bulk.Run) { did[r.Number] = r.Done })
				said := output.Answer(cmd.OutOrStdout(), prog.JSON, map[string]int{"runs": len(did)}, "worked on %d", len(did))
				return errors.Join(s.Explain(err), said)
			})
		},
	}
}
