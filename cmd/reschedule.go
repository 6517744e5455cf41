package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) rescheduleCommand() *cobra.Command {
	var t target
	var w when
	cmd := &cobra.Command{
		Use:     "reschedule --entity NAME/KEY --exec NAME (--at TIME | --in DURATION)",
		GroupID: groupJobs,
		Short:   "Move a pending check to another time",
		Long: `Moves a pending check to another time; its counts and its payload stay. A time that is over goes to the next
open slot.`,
		Example: fmt.Sprintf(`  %s reschedule --entity order/42 --exec order-unshipped --in 1d`, a.options.Program),
		Args:    a.noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.reschedule(cmd, t, w) },
	}
	t.addFlags(cmd)
	w.addFlags(cmd)
	return cmd
}

func (a *app) reschedule(cmd *cobra.Command, t target, w when) error {
	entity, err := t.parse()
	if err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	s, err := a.connectWithExecs(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	due, err := s.due(cmd.Context(), w)
	if err != nil {
		return err
	}
	did, err := s.client.Reschedule(cmd.Context(), s.db, entity, t.exec, t.tag, due)
	if err != nil {
		return s.explain(err)
	}
	return a.printPlaced(cmd.OutOrStdout(), entity, t, did)
}
