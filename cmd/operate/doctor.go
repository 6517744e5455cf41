package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient/doctor"
	"prescient/slots"
)

// Doctor returns the command doctor.
func Doctor(prog *program.Program) *cobra.Command {
	var assignments string
	var use doctor.Use
	var only, ignore []string
	cmd := &cobra.Command{
		Use:        "doctor",
		SuggestFor: []string{"coverage", "missed", "overdue"},
		Short:      "Look for what is wrong, and say what to do about it",
		Long: `Looks for what is wrong: rows that are overdue, slots that nobody served, leases that lapsed, slots that no
assignment covers or several do, slots and pools that no live agent serves, another resolution than the configured one, an unfinished reslot, clocks that differ,
settings of the server, missing tables, columns, indexes, defaults, checks, partitions and rights, and rows that the
library would never write or that are pending and ended at once, among a sample. It changes nothing, and reads a bounded number of rows whatever the tables
hold. With --json, a line a finding: code, severity (ok, part, not looked at, warn, bad), text, do.

"ok" is said of what was looked at whole. "part" is for what is in order as far as it was read: the line says which part, as the
first rows of a large table. "?" (in JSON "not looked at") is for what the account has no right to see, or the server does not show: the line says
which role or right would look.

The exit code says how bad it is: 0 nothing that was looked at is wrong, 10 something is a warning, 11 something is bad; any other as for every
command. With --only it says so of these findings, with --ignore of all but these, each by its code. Missing or broken
tables (tables, schema.table, schema.column) always count. What is late is judged by the resolution, sweep.grace and
sweep.every; doctor.overdue, doctor.missed, doctor.failing, doctor.failing_calls, doctor.clock, doctor.partitions, doctor.purge and doctor.transaction of the
configuration set other limits. How far the server's purge is behind, and which transaction is open the longest, is shown to
accounts with the right PROCESS, which no role has; on MariaDB the former to all.

It looks at what the role of the configured user can see, which is told by the user's rights, or with --use at what that of another name (see
grants) can. The codes are: ` + strings.Join(doctor.FindingCodes(), ", ") + `.`,
		Example: fmt.Sprintf(`  %[1]s doctor
  %[1]s doctor --assignments '0,30;15,45'
  %[1]s doctor --assignments '1/2;2/2' --use app --json
  %[1]s doctor --ignore time_zone,durability`, prog.Name),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd, prog, assignments, use, only, ignore) },
	}
	cmd.Flags().StringVar(&assignments, "assignments", "",
		"those of all workers, with ; between them: minutes (0,30) or shares (1/2); * is all slots")
	arguments.Parsed(cmd.Flags(), &use, "use", "", doctor.ParseUse, "what the configured user is for: analyst, app-sql, app, app-reschedule, operator, worker, oncall or owner (default by its rights)")
	cmd.Flags().StringSliceVar(&only, "only", nil, "count only these findings, by their codes: overdue,leases; rows is also rows.key and the like")
	cmd.Flags().StringSliceVar(&ignore, "ignore", nil, "leave out these findings, by their codes: time_zone,durability")
	return cmd
}

func examine(cmd *cobra.Command, prog *program.Program, assignments string, use doctor.Use, only, ignore []string) error {
	if err := doctor.CheckCodes(only); err != nil {
		return exit.Usage(fmt.Errorf("--only: %w", err))
	}
	if _, err := doctor.SelectFindings(nil, nil, ignore); err != nil {
		return exit.Usage(fmt.Errorf("--ignore: %w", err))
	}
	return prog.OpenEach(cmd, 0, func(s *program.Session) (err error) {
		options := program.DoctorOptions(s.Config)
		options.Use = use
		if options.Assignments, err = parseAssignments(s.Config.Grid, assignments); err != nil {
			return exit.Usage(fmt.Errorf("--assignments: %w", err))
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), 4*program.ConnectTime)
		defer cancel()
		findings, err := doctor.Examine(ctx, s.DB, options)
		if err != nil {
			return s.Explain(err)
		}
		if findings, err = doctor.SelectFindings(findings, only, ignore); err != nil {
			return exit.Usage(fmt.Errorf("--only: %w", err))
		}
		p := output.To(cmd.OutOrStdout())
		for _, f := range findings {
			if prog.JSON {
				p.JSON(f)
				continue
			}
			sayFinding(p, f)
		}
		if p.Err() != nil {
			return p.Err()
		}
		return exitOf(doctor.Worst(findings))
	})
}

// sayFinding prints a finding, and below it what to do.
func sayFinding(p *output.Printer, f doctor.Finding) {
	mark := string(f.Severity)
	if f.Severity == doctor.SeverityUnseen {
		mark = "?"
	}
	p.Say("%-4s  %s: %s", mark, f.Code, f.Text)
	if f.Do != "" {
		p.Say("      → %s", f.Do)
	}
}

// exitOf is the exit code that says how bad the worst finding is.
func exitOf(worst doctor.Severity) error {
	switch worst {
	case doctor.SeverityBad:
		return &exit.Error{Code: exit.CodeBad, Err: errors.New("something is bad"), Printed: true}
	case doctor.SeverityWarn:
		return &exit.Error{Code: exit.CodeWarn, Err: errors.New("there are warnings"), Printed: true}
	}
	return nil
}

// parseAssignments reads minutes and shares with ; between them. A share has a slash after a plain number, and is told
// from a step such as 5/15 by its parts: minutes are tried where it is no share.
func parseAssignments(grid slots.Grid, text string) (list []slots.Assignment, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ";") {
		one, err := slots.ParseShare(grid, part)
		if err != nil {
			var again error
			if one, again = slots.ParseMinutes(grid, part); again != nil {
				if strings.Contains(part, "/") && !strings.ContainsAny(part, "*-,") {
					return nil, err
				}
				return nil, again
			}
		}
		list = append(list, one)
	}
	return list, nil
}
