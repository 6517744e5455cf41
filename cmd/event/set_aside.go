package event

import (
	"fmt"
	"strconv"

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
	arguments.Parsed(cmd.Flags(), &filter.After, "after", "", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }, "only those with a higher number")
	arguments.Number(cmd.Flags(), &filter.Limit, "limit", 100, 1, mostListed, fmt.Sprintf("how many: 1 to %d", mostListed))
	return cmd
}

func setAside(cmd *cobra.Command, prog *program.Program, filter event.SetAsideFilter) error {
	page := output.Page[listed]{Limit: filter.Limit, Line: func(l listed) any { return l.SetAside }, None: "nothing was set aside", Columns: []output.Column{{Title: "number"},
		{Title: "id"}, {Title: "topic"}, {Title: "key"}, {Title: "refused (UTC)"}, {Title: "bytes"}, {Title: "reason"}}, Cells: listed.cells}
	filter.Limit++
	return program.List(cmd, prog, page, func(s *program.Session) (all []listed, _ *output.Early, err error) {
		found, err := s.Schedules.Outbox().SetAside(cmd.Context(), s.DB, filter)
		for _, one := range found {
			all = append(all, listed{one})
		}
		return all, nil, s.Explain(err)
	})
}

// listed is an event in the list.
type listed struct{ event.SetAside }

// Cursor is where it stands in the list, as --after takes it.
func (l listed) Cursor() string { return fmt.Sprintf("%020d", l.Seq) }

func (l listed) cells() []string {
	e := l.SetAside
	return []string{fmt.Sprint(e.Seq), words.Clip(e.ID, 60), words.Clean(e.Topic), words.Clip(e.Key, 40), output.Second(&e.RefusedAt), fmt.Sprint(e.Bytes), words.Clip(e.Reason, 100)}
}
