package rule

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
	"prescient/prescient/worker"
)

// moved is what a walk did.
type moved struct {
	Moved int `json:"moved,omitempty"`
	Late  int `json:"late,omitempty"`
	Ended int `json:"ended,omitempty"`
}

func (m moved) String() (text string) {
	if m.Moved > 0 {
		text = fmt.Sprintf("; %d pending checks were moved", m.Moved)
	}
	if m.Late > 0 {
		text += fmt.Sprintf(", %d of them late", m.Late)
	}
	if m.Ended > 0 {
		text += fmt.Sprintf("; %d pending checks were ended", m.Ended)
	}
	return text
}

// move moves what is pending as a rule says, or waits while another process does.
func move(cmd *cobra.Command, s *program.Session, name string) (all moved, err error) {
	for {
		over, err := s.Rules.WorkOn(cmd.Context(), s.DB, name, worker.NewName(), func(step rulebook.Step) {
			all.Moved, all.Late, all.Ended = all.Moved+step.Moved, all.Late+step.Late, all.Ended+step.Ended
		})
		if over || err != nil {
			return all, err
		}
		select {
		case <-cmd.Context().Done():
			return all, cmd.Context().Err()
		case <-time.After(time.Second):
		}
	}
}

// notMoved is the error of a change that is made, of which not all that is pending was moved or ended.
func notMoved(name, done, program string, err error) error {
	return fmt.Errorf("%s is %s; moving or ending what is pending: %w; serve goes on, or %s rule move %s", name, done, err, program, name)
}

func moveCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "move NAME",
		Short: "Go on moving what is pending as a rule says by now",
		Long: `Goes on where "set", "pause" or "delete" was stopped before all that was pending had been moved or ended, as serve does by itself.
What is left, and what apps insert by an older version, slot runs move when its slot comes; only what is to come earlier can then be late.`,
		Example: fmt.Sprintf(`  %s rule move remind`, prog.Name),
		Args:    oneRule,
		RunE: func(cmd *cobra.Command, args []string) error {
			return prog.ConnectEach(cmd, func(s *program.Session) error {
				did, err := move(cmd, s, args[0])
				if err != nil {
					return s.Explain(err)
				}
				return output.Answer(cmd.OutOrStdout(), prog.JSON, set{Name: args[0], Did: "moved", moved: did}, "all that is pending is as %s says%s", args[0], did)
			})
		},
	}
}

// older is the way of a flag that says what becomes of pending checks.
func older(end bool) rule.Older {
	if end {
		return rule.End
	}
	return rule.Leave
}

func pauseCommand(prog *program.Program) *cobra.Command {
	var end bool
	cmd := &cobra.Command{
		Use:   "pause NAME...",
		Short: "Switch rules off until resume",
		Long: `Switches rules off: all that are named, or none. They make no more checks. What is pending stays, and is still ended by its
occasions, or with --end is cancelled.`,
		Example: fmt.Sprintf(`  %[1]s rule pause remind
  %[1]s rule pause remind --end`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error {
			return switches(cmd, prog, names, "paused", end, func(s *program.Session, tx *sql.Tx, name string) (bool, error) {
				return s.Rules.Pause(cmd.Context(), tx, name, older(end))
			})
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "cancel what is pending")
	return cmd
}

func resumeCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "resume NAME...",
		Short:   "Switch rules on again",
		Long:    `Switches rules on: all that are named, or none. What happened meanwhile makes no checks.`,
		Example: fmt.Sprintf(`  %s rule resume remind`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error {
			return switches(cmd, prog, names, "resumed", false, func(s *program.Session, tx *sql.Tx, name string) (bool, error) {
				return s.Rules.Resume(cmd.Context(), tx, name)
			})
		},
	}
}

func deleteCommand(prog *program.Program) *cobra.Command {
	var end bool
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete rules",
		Long: `Deletes rules: all that are named, or none. What is pending stays, and is still ended by its occasions, or with --end is cancelled. Their
versions stay, and go on where a rule of the name is made again.`,
		Example: fmt.Sprintf(`  %s rule delete remind --end`, prog.Name),
		RunE: func(cmd *cobra.Command, names []string) error {
			return switches(cmd, prog, names, "deleted", end, func(s *program.Session, tx *sql.Tx, name string) (bool, error) {
				return true, s.Rules.Delete(cmd.Context(), tx, name, older(end))
			})
		},
	}
	cmd.Flags().BoolVar(&end, "end", false, "cancel what is pending")
	return cmd
}

// switches switches rules in one transaction, and then has what is pending ended where that is asked for.
func switches(cmd *cobra.Command, prog *program.Program, names []string, done string, end bool, do func(s *program.Session, tx *sql.Tx, name string) (bool, error)) error {
	err := kind(prog).Each(cmd, names, func(s *program.Session, tx *sql.Tx, name string) (string, error) {
		changed, err := do(s, tx, name)
		if !changed {
			return "kept", err
		}
		return done, err
	})
	if err != nil || !end {
		return err
	}
	return prog.ConnectEach(cmd, func(s *program.Session) error {
		for _, name := range names {
			did, err := move(cmd, s, name)
			if err != nil {
				return s.Explain(notMoved(name, done, prog.Name, err))
			}
			if prog.JSON {
				continue
			}
			if err := output.Say(cmd.OutOrStdout(), "%s%s", name, did); err != nil {
				return err
			}
		}
		return nil
	})
}
