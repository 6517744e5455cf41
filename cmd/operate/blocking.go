package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/blocking"
	"prescient/sql"
)

// leastWatch and mostWatch bound how often --watch looks.
const leastWatch, mostWatch = 500 * time.Millisecond, time.Hour

// Blocking returns the command blocking.
func Blocking(prog *program.Program) *cobra.Command {
	var all bool
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "blocking",
		Short: "Show which sessions of the database wait for which, from the root of each chain",
		Long: `Shows which sessions of the database wait for others at the tables of the configured prefix: for their rows, or for the
tables as such, which a change of one has to itself. Each chain begins with its root, the session that waits for nobody, and
shows what each session does, for how long, and what it waits for. Of the root it says which statement ends it: that
rolls back its transaction, and the others go on. It changes nothing itself.

Of rows that are overdue it names a few that a session has locked, with that session: to see which it is, it waits for such a row
itself, for a second at most, on a connection of its own.

The account needs the right PROCESS, on MySQL also SELECT ON performance_schema.*; no role has them. What cannot be seen
without them is said, with the GRANT. MariaDB tells who has the metadata lock of a table only with
performance_schema = ON and performance_schema_instrument = 'wait/lock/metadata/sql/mdl=ON'; else the oldest open
transactions are named, of which each can be it.

With --json, a line a chain: its root, and behind it those that wait for it; then a line a locked row. The exit code is 10 where
somebody waits or a row is locked, else 0.`,
		Example: fmt.Sprintf(`  %[1]s blocking
  %[1]s blocking --watch 2s
  %[1]s blocking --all --json`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return blockingOf(cmd, prog, all, every) },
	}
	cmd.Flags().BoolVar(&all, "all", false, "at all tables of the server, of whomever")
	arguments.Within(cmd.Flags(), &every, "watch", "", leastWatch, mostWatch, "look again that often, until interrupted: 500ms to 1h")
	return cmd
}

func blockingOf(cmd *cobra.Command, prog *program.Program, all bool, every time.Duration) error {
	return prog.OpenEach(cmd, 0, func(s *program.Session) error {
		if every > 0 {
			if err := s.OneShard("--watch"); err != nil {
				return err
			}
		}
		look := func() (blocking.Report, error) {
			ctx, cancel := context.WithTimeout(cmd.Context(), 4*program.ConnectTime)
			defer cancel()
			found, err := blocking.Look(ctx, s.DB, blocking.Options{Prefix: s.Config.TablePrefix, Dialect: sql.Dialect(s.Config.Dialect), All: all})
			return found, s.Explain(err)
		}
		for {
			found, err := look()
			if every > 0 && cmd.Context().Err() != nil {
				return nil // interrupted
			}
			if err != nil {
				return err
			}
			if every > 0 && !prog.JSON {
				err = output.Say(cmd.OutOrStdout(), "%s", output.Stamp(time.Now().Truncate(time.Second)))
			}
			if err = errors.Join(err, sayBlocking(cmd.OutOrStdout(), found, prog.JSON)); err != nil {
				return err
			}
			if every == 0 && len(found.Chains)+len(found.Locked) > 0 {
				return &exit.Error{Code: exit.CodeWarn, Err: errors.New("sessions wait for others, or rows are locked"), Printed: true}
			}
			if every == 0 {
				return nil
			}
			select {
			case <-cmd.Context().Done():
				return nil
			case <-time.After(every):
			}
		}
	})
}

func sayBlocking(w io.Writer, found blocking.Report, json bool) error {
	if found.More {
		found.Unseen = append(found.Unseen, blocking.Unseen{What: "whether further overdue rows are locked: only the first ones were looked at",
			Do: "look again once these rows have run; the logs of work and sweep name each locked row"})
	}
	if found.Skipped {
		found.Unseen = append(found.Unseen, blocking.Unseen{What: "whether overdue rows are locked: none was looked at, since a table as such is locked, or somebody waits for that",
			Do: "look again once nobody waits for a table"})
	}
	if json {
		return errors.Join(output.Lines(w, found.Chains), output.Lines(w, found.Locked), output.Lines(w, found.Unseen))
	}
	p := output.To(w)
	for _, root := range found.Chains {
		sayNode(p, root, 0)
	}
	switch {
	case len(found.Chains) > 0:
	case found.Blind:
		p.Say("Whether sessions wait for others does not show.")
	default:
		p.Say("No session is seen to wait for another.")
	}
	for _, row := range found.Locked {
		sayLocked(p, row)
	}
	for i, u := range found.Unseen {
		p.Say("Not shown is %s.", u.What)
		if next := i + 1; next == len(found.Unseen) || found.Unseen[next].Do != u.Do { // what helps against both is said once
			p.Say("      → %s", u.Do)
		}
	}
	return p.Err()
}

// sayLocked says which sessions have a row that cannot be run for that.
func sayLocked(p *output.Printer, row blocking.LockedRow) {
	what := fmt.Sprintf("%s of %s was not run in its slot %s", row.JobExec, row.Entity(), output.Stamp(row.Slot))
	if len(row.By) == 0 {
		p.Say("%s: an open transaction holds its row, and whose transaction that is does not show", what)
		return
	}
	by := row.Accounts()
	if by != "" {
		by = " (" + by + ")"
	}
	p.Say("%s: %s%s", what, row.Held(), by)
	for _, s := range row.By {
		if does := s.Statement + s.Last; does != "" {
			p.Say("  %s sent: %s", s.Name(), does)
		}
	}
	p.Say("  → %s The sweeper tries the row again.", row.By[0].HowToEnd(row.End))
}

// sayNode says what a session does and waits for, and those behind it, further to the right.
func sayNode(p *output.Printer, n blocking.Node, depth int) {
	in := strings.Repeat("  ", depth)
	text := in + n.Name()
	seconds := func(n int64) time.Duration { return time.Duration(n) * time.Second }
	if n.Waits != nil {
		text += fmt.Sprintf(", waits %s for %s", seconds(n.Waits.Seconds), n.Waits.Of())
		if n.Waits.Perhaps {
			text += ", perhaps for this session"
		}
	} else if n.Command != "" {
		text += fmt.Sprintf(", %s for %s", n.Command, seconds(n.Seconds))
	}
	if n.Open > 0 {
		text += fmt.Sprintf(", its transaction has been open for %s", seconds(n.Open))
	}
	p.Say("%s", text)
	if n.Statement != "" {
		p.Say("%s  does: %s", in, n.Statement)
	} else if n.Last != "" {
		p.Say("%s  sent last: %s", in, n.Last)
	}
	if n.Circle {
		p.Say("%s  waits for one of those behind it: a deadlock that the server does not see", in)
	}
	switch {
	case n.End != "" && n.Perhaps():
		p.Say("%s  → Sessions that perhaps wait for it: %d. First see whether it has used the table; only then: %s", in, n.Waiting(), n.HowToEnd(n.End))
	case n.End != "":
		p.Say("%s  → %s Sessions that wait for it: %d.", in, n.HowToEnd(n.End), n.Waiting())
	}
	for _, b := range n.Behind {
		sayNode(p, b, depth+1)
	}
}
