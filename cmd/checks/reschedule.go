package checks

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

// Reschedule returns the command reschedule.
func Reschedule(prog *program.Program) *cobra.Command {
	var t target
	var w when
	cmd := &cobra.Command{
		Use:   "reschedule --entity NAME/KEY --exec NAME (--at TIME | --in DURATION)",
		Short: "Move a pending check to another time",
		Long: `Moves a pending check to another time; its counts and its payload stay. A time that is over goes to the next
open slot.`,
		Example: fmt.Sprintf(`  %s reschedule --entity order/42 --exec order-unshipped --in 1d`, prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return reschedule(cmd, prog, t, w) },
	}
	t.addFlags(cmd)
	w.addFlags(cmd)
	return program.Reasoned(cmd)
}

func reschedule(cmd *cobra.Command, prog *program.Program, t target, w when) error {
	entity, err := t.parse()
	if err != nil {
		return err
	}
	if err := w.check(); err != nil {
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
