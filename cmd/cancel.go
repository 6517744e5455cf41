package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) cancelCommand() *cobra.Command {
	var entity string
	var execs []string
	cmd := &cobra.Command{
		Use:     "cancel --entity NAME/KEY [--exec NAME]...",
		GroupID: groupJobs,
		Short:   "Cancel what is pending for an entity",
		Long: `Ends what is pending for an entity as cancelled: all of it, or what the job_execs named do. That nothing
was pending is no failure: it prints how many it cancelled.`,
		Example: fmt.Sprintf(`  %[1]s cancel --entity order/42
  %[1]s cancel --entity order/42 --exec order-unshipped`, a.options.Program),
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.cancel(cmd, entity, execs) },
	}
	cmd.Flags().StringVar(&entity, "entity", "", "whose checks: name/key, as in order/42")
	cmd.Flags().StringArrayVar(&execs, "exec", nil, "only the checks of this job_exec; may be given several times")
	return cmd
}

func (a *app) cancel(cmd *cobra.Command, entity string, execs []string) error {
	e, err := parseEntity(entity)
	if err != nil {
		return err
	}
	s, err := a.connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	cancelled, err := s.client.Cancel(cmd.Context(), s.db, e, execs...)
	if err != nil {
		return s.explain(err)
	}
	if a.json {
		return printJSON(cmd.OutOrStdout(), struct {
			Cancelled int `json:"cancelled"`
		}{cancelled})
	}
	return say(cmd.OutOrStdout(), "cancelled %d of %s", cancelled, e.String())
}
