package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/rulebook"
)

// reported is what report --json prints.
type reported struct {
	Occasion string                   `json:"occasion"`
	Entity   string                   `json:"entity"`
	Checks   map[string]reportedCheck `json:"checks"`
	Ended    int                      `json:"ended"`
}

// reportedCheck is what became of the check of a rule.
type reportedCheck struct {
	Did   client.InsertAction `json:"did"`
	DueAt time.Time           `json:"due_at"`
	Slot  time.Time           `json:"slot"`
}

func reportCommand(prog *program.Program) *cobra.Command {
	var entity, at, data string
	cmd := &cobra.Command{
		Use:   "report OCCASION --entity NAME/KEY",
		Short: "Report an occasion, as an app does",
		Long: `Reports that something happened to an entity: rules have their checks ended and made. It happened now, or --at another time. Of an
occasion that no rule knows nothing comes.`,
		Example: fmt.Sprintf(`  %s rule report order.placed --entity order/42 --data '{"customer": 7}'`, prog.Name),
		Args:    arguments.One("an occasion"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := prescient.ParseEntity(entity)
			if err != nil {
				return exit.Usage(err)
			}
			return prog.Connect(cmd, func(s *program.Session) error {
				now, err := s.Now(cmd.Context())
				if err != nil {
					return err
				}
				when := now
				if at != "" {
					if when, err = (arguments.When{At: at}).Resolve(now); err != nil {
						return exit.Usage(err)
					}
				}
				var with json.RawMessage
				if data != "" {
					with = json.RawMessage(data)
				}
				did, err := s.Client.Happened(cmd.Context(), s.DB, args[0], e, when, with)
				if err != nil {
					return s.Explain(err)
				}
				out := reported{args[0], e.String(), make(map[string]reportedCheck, len(did.Checks)), did.Ended}
				text := []string{fmt.Sprintf("%d ended", did.Ended)}
				for _, name := range slices.Sorted(maps.Keys(did.Checks)) {
					one := did.Checks[name]
					out.Checks[name] = reportedCheck{one.Did, one.DueAt, one.Slot}
					text = append(text, fmt.Sprintf("%s: %s, due at %s (UTC)", name, one.Did, output.Stamp(one.DueAt)))
				}
				err = answer(cmd, prog, out, text...)
				if len(did.Checks) == 0 && did.Ended == 0 {
					err = errors.Join(err, warnUnknown(cmd, s, args[0]))
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&entity, "entity", "", "to which entity: order/42")
	arguments.Time(cmd.Flags(), &at, "at", "when it happened (default now)")
	cmd.Flags().StringVar(&data, "data", "", "a JSON object")
	return cmd
}

// warnUnknown says on stderr where no rule knows an occasion: it may be misspelt.
func warnUnknown(cmd *cobra.Command, s *program.Session, occasion string) error {
	all, err := s.Rules.List(cmd.Context(), s.DB, "", rulebook.MaxRules)
	if err != nil {
		return s.Explain(err)
	}
	var known []string
	for _, one := range all {
		known = append(append(known, one.Occasion), one.Ends...)
	}
	if slices.Contains(known, occasion) {
		return nil
	}
	return output.Say(cmd.ErrOrStderr(), "%s: warning: no rule knows the occasion %s%s", s.Program.Name, occasion, strings.Replace(value.Suggestion(occasion, known), "; ", ", ", 1))
}
