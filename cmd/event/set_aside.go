package event

import (
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/event"
)

// mostListed is how many events set-aside lists at most.
const mostListed = 1000

func setAsideCommand(prog *program.Program) *cobra.Command {
	var filter event.SetAsideFilter
	cmd := &cobra.Command{
		Use:   "set-aside",
		Short: "List events that brokers refused for good",
		Long: `Lists events that brokers refused for good, the first of them first, each with its number and the reason. resend puts them
into the outbox again, once the reason is gone; drop deletes them.`,
		Example: fmt.Sprintf("  %[1]s event set-aside --topic orders.late\n  %[1]s event set-aside --after 4711 --limit 1000", prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return setAside(cmd, prog, filter) },
	}
	cmd.Flags().StringVar(&filter.Topic, "topic", "", "only those of this topic")
	cmd.Flags().StringVar(&filter.ID, "id", "", "only those with this id")
	cmd.Flags().Uint64Var(&filter.After, "after", 0, "only those with a higher number")
	arguments.Number(cmd.Flags(), &filter.Limit, "limit", 100, 1, mostListed, fmt.Sprintf("how many: 1 to %d", mostListed))
	return cmd
}

func setAside(cmd *cobra.Command, prog *program.Program, filter event.SetAsideFilter) error {
	return prog.Read(cmd, func(s *program.Session) error {
		list, err := s.Schedules.Outbox().SetAside(cmd.Context(), s.DB, filter)
		if err != nil {
			return s.Explain(err)
		}
		return output.Rows(cmd.OutOrStdout(), prog.JSON, list, "nothing was set aside", []output.Column{{Title: "number"}, {Title: "id"}, {Title: "topic"}, {Title: "key"},
			{Title: "refused (UTC)"}, {Title: "bytes"}, {Title: "reason"}}, setAsideCells)
	})
}

func setAsideCells(e event.SetAside) []string {
	return []string{fmt.Sprint(e.Seq), words.Clip(e.ID, 60), words.Clean(e.Topic), words.Clip(e.Key, 40), output.Second(&e.RefusedAt), fmt.Sprint(e.Bytes), words.Clip(e.Reason, 100)}
}
