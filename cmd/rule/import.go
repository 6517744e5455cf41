package rule

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/taking"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// importFlags are the flags of import.
type importFlags struct{ update, leave, dryRun bool }

func importCommand(prog *program.Program) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make and change rules as a file says",
		Long: `Makes the rules of a file, or with - of stdin, and with --update changes those that are there and say something else: all of them, or
none. The difference is printed: + created, ~ changed, with the lines that change. Then it moves what is pending, unless --leave says
otherwise. --dry-run prints what would change and what would move, and does nothing.

A file is YAML, a list of rules, or one a document. Of a rule: rule (its name), occasion, exec, delay, spread, expires_after, on_pending, ends (a
text or a list), payload (an object), max_checks, max_errors, enabled. One with enabled: false is off; true says nothing:

  - rule: remind
    occasion: order.placed
    exec: send-reminder
    delay: 3h
    ends: [order.shipped, order.cancelled]

Schedules, jobs and shared steps may stand in the same file: they are checked, too, and left to schedule import and job import.`,
		Example: fmt.Sprintf(`  %[1]s rule import rules.yaml --update --dry-run
  %[1]s rule export | ssh other %[1]s rule import - --update`, prog.Name),
		Args: arguments.File,
		RunE: func(cmd *cobra.Command, args []string) error { return f.take(cmd, prog, args[0]) },
	}
	cmd.Flags().BoolVar(&f.update, "update", false, "change those that are there and say something else")
	cmd.Flags().BoolVar(&f.leave, "leave", false, "leave what is pending as it is")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only print what would be done")
	return cmd
}

// fileTaking takes rules.
type fileTaking struct {
	taking.Taking
	older rule.Older
}

func (f importFlags) take(cmd *cobra.Command, prog *program.Program, name string) error {
	entries, counts, err := taking.Read(cmd, prog, name, "no rule", file.Rule)
	if err != nil {
		return err
	}
	err = prog.ConnectEachWithExecs(cmd, func(s *program.Session) error {
		t := fileTaking{taking.Taking{Session: s, Update: f.update, DryRun: f.dryRun, Hint: "rule import --update changes it"}, rule.Move}
		if f.leave {
			t.older = rule.Leave
		}
		err := t.Take(cmd.Context(), func(tx *sql.Tx) error {
			for _, entry := range entries {
				if err := t.rule(cmd.Context(), tx, entry); err != nil {
					return taking.Refused(entry, err)
				}
			}
			return nil
		})
		if err != nil {
			return s.Explain(err)
		}
		err = t.Print(cmd.OutOrStdout(), prog.JSON)
		var execs []string
		for i, entry := range entries {
			execs = append(execs, entry.Rule.JobExec)
			if err == nil && t.Done[i].Did != "kept" && !f.leave {
				err = f.move(cmd, s, *entry.Rule)
			}
		}
		if err != nil {
			return err
		}
		return s.WarnUnregistered(cmd.Context(), cmd.ErrOrStderr(), putOff, execs...)
	})
	if err != nil {
		return err
	}
	for _, line := range counts.Left(file.Rule) {
		err = errors.Join(err, output.Say(cmd.ErrOrStderr(), "%s: %s", prog.Name, line))
	}
	return err
}

func (t *fileTaking) rule(ctx context.Context, tx *sql.Tx, entry file.Entry) error {
	name := entry.Rule.Name
	old, err := t.Rules.Get(ctx, tx, name)
	isNew := errors.Is(err, rulebook.ErrNotFound)
	if err != nil && !isNew {
		return err
	}
	if isNew {
		_, err = t.Rules.Create(ctx, tx, *entry.Rule)
	} else {
		_, _, err = t.Rules.Put(ctx, tx, *entry.Rule, old.Version, t.older)
	}
	if err == nil && entry.Enabled != nil && !*entry.Enabled {
		_, err = t.Rules.Pause(ctx, tx, name, rule.Leave)
	}
	if err != nil {
		return err
	}
	if isNew {
		return t.Note(entry, true, nil, nil)
	}
	stored, err := t.Rules.Get(ctx, tx, name)
	if err != nil {
		return err
	}
	return t.NoteChange(entryOf(old), entryOf(stored), nil)
}

// move moves what is pending, or says what would move. JSON has the difference alone.
func (f importFlags) move(cmd *cobra.Command, s *program.Session, r rule.Rule) error {
	var lines []string
	if f.dryRun {
		p, err := s.Rules.Preview(cmd.Context(), s.DB, r, previewFor)
		if err != nil {
			return s.Explain(err)
		}
		lines = inWords(r.Name, p)
	} else {
		did, err := move(cmd, s, r.Name)
		if err != nil {
			return s.Explain(notMoved(r.Name, "taken", s.Program.Name, err))
		}
		if did != (moved{}) {
			lines = []string{r.Name + did.String()}
		}
	}
	if s.Program.JSON {
		return nil
	}
	p := output.To(cmd.OutOrStdout())
	for _, line := range lines {
		p.Say("%s", line)
	}
	return p.Err()
}
