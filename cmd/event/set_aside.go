package event

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
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
	cmd.Flags().IntVar(&filter.Limit, "limit", 100, fmt.Sprintf("how many: 1 to %d", mostListed))
	return cmd
}

func setAside(cmd *cobra.Command, prog *program.Program, filter event.SetAsideFilter) error {
	if filter.Limit < 1 || filter.Limit > mostListed {
		return exit.Usage(fmt.Errorf("--limit %d: 1 to %d are allowed", filter.Limit, mostListed))
	}
	s, err := prog.Read(cmd)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.Schedules.Outbox().SetAside(cmd.Context(), s.DB, filter)
	switch {
	case err != nil:
		return s.Explain(err)
	case prog.JSON:
		return output.Lines(cmd.OutOrStdout(), list)
	case len(list) == 0:
		return output.Say(cmd.OutOrStdout(), "nothing was set aside")
	}
	var cells [][]string
	for _, e := range list {
		cells = append(cells, []string{fmt.Sprint(e.Seq), words.Clip(e.ID, 60), words.Clean(e.Topic), words.Clip(e.Key, 40),
			output.Stamp(e.RefusedAt.Truncate(time.Second)), fmt.Sprint(e.Bytes), words.Clip(e.Reason, 100)})
	}
	return output.Table(cmd.OutOrStdout(), []output.Column{{Title: "number"}, {Title: "id"}, {Title: "topic"}, {Title: "key"},
		{Title: "refused (UTC)"}, {Title: "bytes"}, {Title: "reason"}}, cells)
}
