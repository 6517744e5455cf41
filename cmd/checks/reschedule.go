package checks

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
	"prescient/prescient/bulk"
)

// spreadHelp is the help of --spread where it is for all that match.
const spreadHelp = "put all that match evenly into so much time after that, such as 30m; always at the same place for the same check"

// Reschedule returns the command reschedule.
func Reschedule(prog *program.Program) *cobra.Command {
	var t target
	var w arguments.When
	var many manyFlags
	var failing bool
	var spread string
	cmd := &cobra.Command{
		Use:   "reschedule (--entity NAME/KEY --exec NAME | --exec NAME [--slot TIME] [--entity NAME] (--yes | --dry-run)) (--at TIME | --in DURATION | --failing)",
		Short: "Move a pending check to another time, or all that match",
		Long: `Moves a pending check to another time; its counts and its payload stay. A time that is over goes to the next
open slot. With --failing, in place of a time, all that match and whose last call failed are tried again in the next open slot.
With --spread all that match are due evenly over so much time after that, and not all in one slot.` + manyHelp,
		Example: fmt.Sprintf(`  %[1]s reschedule --entity order/42 --exec order-unshipped --in 1d
  %[1]s reschedule --exec order-unshipped --slot '2026-03-01 13:00' --in 1d --dry-run
  %[1]s reschedule --exec order-unshipped --failing --spread 2h --yes`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return reschedule(cmd, prog, t, w, many, failing, spread) },
	}
	t.addFlags(cmd)
	w.AddFlags(cmd.Flags())
	many.addFlags(cmd)
	cmd.Flags().StringVar(&spread, "spread", "", spreadHelp)
	cmd.Flags().BoolVar(&failing, "failing", false, "all checks whose last call failed, in the next open slot")
	return program.Reasoned(cmd)
}

func reschedule(cmd *cobra.Command, prog *program.Program, t target, w arguments.When, many manyFlags, failing bool, spread string) error {
	if err := arguments.NotEmpty(cmd, "entity", "exec", "slot", "from", "before", "error", "at", "in", "spread"); err != nil {
		return err
	}
	many.exec = t.exec
	if err := many.check(t.entity); err != nil {
		return err
	}
	if many.are(t.entity) {
		return rescheduleMany(cmd, prog, t, w, many, failing, spread)
	}
	if failing {
		return exit.Usage(errors.New("--failing is for all checks that match; of one entity give --at or --in"))
	}
	if spread != "" {
		return exit.Usage(errors.New("--spread is for all checks that match; one is due when --at or --in says"))
	}
	entity, err := t.parse()
	if err != nil {
		return err
	}
	if err := w.Check(); err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		due, err := dueOf(cmd.Context(), s, w)
		if err != nil {
			return err
		}
		did, err := s.Client.Reschedule(cmd.Context(), s.DB, entity, t.exec, t.tag, due)
		if err != nil {
			return s.Explain(err)
		}
		return printPlaced(prog, cmd.OutOrStdout(), entity, t, did)
	})
}

func rescheduleMany(cmd *cobra.Command, prog *program.Program, t target, w arguments.When, many manyFlags, failing bool, spread string) error {
	if t.tag != "" {
		return exit.Usage(errors.New("--tag is for one check; give its --entity name/key"))
	}
	if failing && w != (arguments.When{}) {
		return exit.Usage(errors.New("give --failing or a time"))
	}
	if !failing {
		if err := w.Check(); err != nil {
			return err
		}
	}
	over, err := parseSpread(spread)
	if err != nil {
		return err
	}
	return prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		filter, err := many.filter(cmd.Context(), s, t.entity)
		if err != nil {
			return err
		}
		asked := bulk.Asked{Deed: bulk.Retry, Filter: filter, SpreadMS: over.Milliseconds()}
		if !failing {
			due, err := dueOf(cmd.Context(), s, w)
			if err != nil {
				return err
			}
			asked.Deed, asked.DueAt = bulk.Reschedule, &due
		}
		return doMany(cmd, prog, s, asked, many.dryRun, "rescheduled")
	})
}
