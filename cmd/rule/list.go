package rule

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
	"prescient/slots"
)

// listed is a rule in a list, in JSON.
type listed struct {
	Name         string        `json:"name"`
	Version      uint32        `json:"version"`
	State        rule.State    `json:"state"`
	Occasion     string        `json:"occasion"`
	Exec         string        `json:"exec"`
	Delay        string        `json:"delay"`
	Spread       string        `json:"spread,omitempty"`
	ExpiresAfter string        `json:"expires_after,omitempty"`
	OnPending    string        `json:"on_pending"`
	Ends         []string      `json:"ends"`
	MaxChecks    int           `json:"max_checks,omitempty"`
	MaxErrors    int           `json:"max_errors,omitempty"`
	Walk         rulebook.Walk `json:"walk"`
	UpdatedAt    time.Time     `json:"updated_at"`
}

func listedOf(r rulebook.Stored) listed {
	return listed{r.Rule.Name, r.Version, r.State, r.Occasion, r.JobExec, slots.Short(r.Delay), shortOrNone(r.Spread), shortOrNone(r.ExpiresAfter), string(r.OnPending), r.Ends,
		r.MaxChecks, r.MaxErrors, r.Walk, r.UpdatedAt}
}

func shortOrNone(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return slots.Short(d)
}

// moving says where what is pending has not all followed the last change.
func (l listed) moving() string {
	if l.Walk.To == l.Version || l.Walk.Pass == 0 {
		return ""
	}
	return fmt.Sprintf("pass %d, %d moved, %d ended", l.Walk.Pass, l.Walk.Moved, l.Walk.Ended)
}

// each reads all rules in the order of their names.
func each(ctx context.Context, s *program.Session, do func(rulebook.Stored)) error {
	const most = 500 // of a page
	return definition.Pages(most, func(after string) ([]rulebook.Stored, error) { return s.Rules.List(ctx, s.DB, after, most) },
		func(r rulebook.Stored) string { return r.Rule.Name }, func(r rulebook.Stored) error {
			do(r)
			return nil
		})
}

func listCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List rules",
		Long:    `Lists rules in the order of their names.`,
		Example: fmt.Sprintf(`  %s rule list`, prog.Name),
		Args:    arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return prog.ReadEach(cmd, func(s *program.Session) error {
				var all []listed
				err := each(cmd.Context(), s, func(r rulebook.Stored) { all = append(all, listedOf(r)) })
				if err != nil {
					return s.Explain(err)
				}
				return output.Rows(cmd.OutOrStdout(), prog.JSON, all, "there are no rules", []output.Column{{Title: "rule"}, {Title: "version", Right: true}, {Title: "state"}, {Title: "occasion"}, {Title: "job_exec"},
					{Title: "delay"}, {Title: "spread"}, {Title: "ends"}, {Title: "moving"}}, func(l listed) []string {
					return []string{l.Name, fmt.Sprint(l.Version), string(l.State), l.Occasion, l.Exec, l.Delay, l.Spread, words.Clip(strings.Join(l.Ends, ", "), 60), l.moving()}
				})
			})
		},
	}
}

// shown is what show --json prints.
type shown struct {
	listed
	Payload  string        `json:"payload,omitempty"`
	Since    time.Time     `json:"since"`
	Versions []shownBefore `json:"versions"`
}

// shownBefore is a version of a rule.
type shownBefore struct {
	Version   uint32     `json:"version"`
	State     rule.State `json:"state"`
	Delay     string     `json:"delay"`
	Spread    string     `json:"spread,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
}

// mostVersions is how many versions show has.
const mostVersions = 20

func showCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a rule, and its versions",
		Long:    `Shows what a rule says, how far what is pending follows it, and its last versions. If there is none, the exit code is 3.`,
		Example: fmt.Sprintf(`  %s rule show remind`, prog.Name),
		Args:    oneRule,
		RunE: func(cmd *cobra.Command, args []string) error {
			return prog.ReadEach(cmd, func(s *program.Session) error {
				r, err := s.Rules.Get(cmd.Context(), s.DB, args[0])
				if err != nil {
					return s.Explain(err)
				}
				versions, err := s.Rules.Versions(cmd.Context(), s.DB, args[0], 0, mostVersions)
				if err != nil {
					return s.Explain(err)
				}
				one := shown{listed: listedOf(r), Payload: string(r.Payload), Since: r.Since}
				for _, v := range versions {
					one.Versions = append(one.Versions, shownBefore{v.Version, v.State, slots.Short(v.Delay), shortOrNone(v.Spread), v.CreatedAt})
				}
				if prog.JSON {
					return output.JSON(cmd.OutOrStdout(), one)
				}
				p := output.To(cmd.OutOrStdout())
				p.Fields(13, [][2]string{{"rule", one.Name}, {"state", string(one.State)}, {"since", output.Second(&one.Since)}, {"occasion", one.Occasion}, {"job_exec", one.Exec}, {"delay", one.Delay},
					{"spread", one.Spread}, {"expires_after", one.ExpiresAfter}, {"on_pending", one.OnPending}, {"ends", strings.Join(one.Ends, ", ")}, {"payload", words.Clip(one.Payload, 200)},
					{"max_checks", numberOrNone(one.MaxChecks)}, {"max_errors", numberOrNone(one.MaxErrors)}, {"moving", one.moving()}})
				for _, v := range one.Versions {
					p.Say("version %d of %s: %s, delay %s, spread %s", v.Version, output.Second(&v.CreatedAt), v.State, v.Delay, cmp.Or(v.Spread, "none"))
				}
				return p.Err()
			})
		},
	}
}

func numberOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}
