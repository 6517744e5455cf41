package operate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/sql"
)

// granted is what grants --json prints.
type granted struct {
	Role       string   `json:"role"`
	Statements []string `json:"statements"`
}

// Grants returns the command grants.
func Grants(prog *program.Program) *cobra.Command {
	var role string
	var account sql.Account
	var tidb bool
	cmd := &cobra.Command{
		Use:   "grants --role app --user NAME",
		Short: "Print the GRANTs that give an account just what it needs",
		Long: `Prints the statements that give a role to an account, for an administrator to run. Nothing is asked of the
database and nothing changed. The last one has the audit know of it (but for an owner, who may be there before the
tables). Make the account first (CREATE USER … IDENTIFIED BY …), and, for all roles but owner, the tables (migrate).

Roles:
  analyst         reads history and the views on it
  app-sql         inserts in plain SQL, cancels by CALL cancel(entity_name, entity_key, job_exec or NULL)
  app             inserts and cancels by the Go client, schedule, job, events; cannot put a pending check to another time
  app-reschedule  also replaces and reschedules
  operator        pause, resume, requeue, event, blocking, agents, runs, doctor --use operator, and all that lists
  worker          run, work, sweep, roll-forward, forward
  owner           migrate, prune, reslot, and all of the above`,
		Example: "  prescient grants --role worker --user prescient --host '10.0.%' | mysql -u root -p",
		Args:    arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tidb {
				account.Server = sql.TiDB
			}
			return printGrants(cmd, prog, role, account)
		},
	}
	cmd.Flags().StringVar(&role, "role", "", strings.Join(sql.Roles(), ", "))
	cmd.Flags().StringVar(&account.User, "user", "", "name of the account")
	cmd.Flags().StringVar(&account.Host, "host", "%", "host of the account")
	cmd.Flags().StringVar(&account.Database, "database", "", "database of the tables (default that of the DSN)")
	cmd.Flags().BoolVar(&tidb, "tidb", false, "for TiDB: as --dialect plain, with no rights on columns, which an INSERT does not heed there")
	return cmd
}

func printGrants(cmd *cobra.Command, prog *program.Program, role string, account sql.Account) error {
	if role == "" || account.User == "" {
		return exit.Usage(errors.New("give --role and --user, such as --role app --user shop"))
	}
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	if account.Database == "" {
		dsn, err := c.RequireDSN()
		if err != nil {
			return exit.Usage(fmt.Errorf("%w; or give --database", err))
		}
		parsed, err := mysql.ParseDSN(dsn)
		if err != nil {
			return exit.Usage(errors.New("the DSN cannot be read; give --database"))
		}
		account.Database = parsed.DBName
	}
	account.Prefix, account.Dialect = c.TablePrefix, sql.Dialect(c.Dialect)
	comment, statements, err := sql.Grants(role, account)
	if err != nil {
		return exit.Usage(err)
	}
	about, entry, err := sql.GrantEntry(role, account)
	if err != nil {
		return exit.Usage(err)
	}
	out := cmd.OutOrStdout()
	if entry != "" && prog.JSON {
		statements = append(statements, entry)
	}
	if prog.JSON {
		return output.JSON(out, granted{role, statements})
	}
	if _, err := fmt.Fprint(out, comment); err != nil {
		return err
	}
	for _, statement := range statements {
		if err := output.Say(out, "%s;", statement); err != nil {
			return err
		}
	}
	if entry == "" {
		return nil
	}
	return output.Say(out, "%s\n%s;", about, entry)
}
