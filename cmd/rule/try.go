package rule

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/rulebook"
)

// triedFor is how long try looks at what was.
const triedFor = time.Minute

func tryCommand(prog *program.Program) *cobra.Command {
	var f definitionFlags
	var from, before string
	cmd := &cobra.Command{
		Use:   "try NAME",
		Short: "Say what a rule would have made of what happened",
		Long: `Says what a rule, as it is or as the flags have it, would have made in the last week, or since another time. It goes by the checks of
the rule of the same occasion with the longest delay, which may be the rule itself: an occasion that no rule knew is not known.`,
		Example: fmt.Sprintf(`  %[1]s rule try remind --delay 4h
  %[1]s rule try second --occasion order.placed --exec call-customer --delay 2d --from now-30d`, prog.Name),
		Args: oneRule,
		RunE: func(cmd *cobra.Command, args []string) error {
			return prog.ReadEach(cmd, func(s *program.Session) error {
				r, _, err := f.rule(cmd, s, args[0])
				if err != nil {
					return err
				}
				begin, end, err := s.Period(cmd.Context(), cmp.Or(from, "now-7d"), cmp.Or(before, "now"))
				if err != nil {
					return err
				}
				t, err := s.Rules.Try(cmd.Context(), s.DB, r, begin, end, triedFor)
				if err != nil {
					return s.Explain(err)
				}
				return answer(cmd, prog, t, tried(t)...)
			})
		},
	}
	f.addFlags(cmd)
	arguments.Time(cmd.Flags(), &from, "from", "what happened at this time or later (default now-7d)")
	arguments.Time(cmd.Flags(), &before, "before", "what happened before this time (default now)")
	return cmd
}

// tried says what a rule would have made.
func tried(t rulebook.Tried) []string {
	text := fmt.Sprintf("by the checks of rule %s it happened %d times from %s to %s (UTC)", t.Witness, t.Occasions, output.Stamp(t.From), output.Stamp(t.To))
	if !t.Whole {
		text += " at least: not all that ended since was looked at"
	}
	if why := t.Why(); why != "" {
		return []string{text, why}
	}
	called := fmt.Sprintf("%d would have been called", t.Called)
	if t.Peak > 0 {
		called += fmt.Sprintf(", at most %d in a slot, that of %s", t.Peak, output.Stamp(t.PeakAt))
	}
	return []string{text, fmt.Sprintf("%d checks would have been ended before their time", t.Ended), called, fmt.Sprintf("of %d nobody knows yet", t.Open)}
}
