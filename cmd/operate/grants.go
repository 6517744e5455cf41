package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/config"
	"prescient/sql"
	"prescient/sql/migrate"
	"prescient/sql/rights"
)

// granted is what grants --json prints.
type granted struct {
	Roles      []string `json:"roles"`
	Statements []string `json:"statements"`
	// OnDatabases take away what the account has on whole databases, where that is left to who reads it.
	OnDatabases []string `json:"on_databases,omitempty"`
	// NotLooked says why it was not looked at what the account has.
	NotLooked string `json:"not_looked,omitempty"`
}

// granting is what grants is asked for.
type granting struct {
	roles    []string
	account  sql.Account
	database bool // rights on the whole database go, whatever else is in it
}

// Grants returns the command grants.
func Grants(prog *program.Program) *cobra.Command {
	var g granting
	var tidb bool
	cmd := &cobra.Command{
		Use:   "grants --role app --user NAME",
		Short: "Print the GRANTs that give an account just what it needs",
		Long: `Prints the statements that give a role to an account, for an administrator to run. Nothing is changed. The last one
has the audit know of it (but for an owner, who may be there before the tables). Make the account first
(CREATE USER … IDENTIFIED BY …), and, for all roles but owner, the tables (migrate).

It looks what the account has by now on these tables, and prints the REVOKEs of what no role of it gives: so it ends with
exactly what its roles give, whatever it had. An account that is to have two roles gets them together: --role app --role
analyst. To look it needs a DSN of the account itself, or of one with SELECT ON mysql.*; where it could not, a comment says so.
Rights on the whole server (ON *.*) are left, and roles of the server.

Rights on the whole database hold for all tables of it. Where it has other tables, the REVOKEs of these are comments: give
the account what it needs on the others first, and then run them, or take them with --whole-database.

Roles:
  analyst         reads history and the views on it
  app-sql         inserts in plain SQL, cancels by CALL cancel(entity_name, entity_key, job_exec or NULL), and
                  looks by CALL pending(entity_name, entity_key)
  app             inserts and cancels by the Go client, schedule, job, events; cannot put a pending check to another time
  app-reschedule  also replaces and reschedules
  operator        pause, resume, one entity's requeue, event, blocking, agents, status, runs, attest, advise, doctor --use operator, and all that lists
  worker          run, work, sweep, roll-forward, forward, notify
  oncall          operator and worker in one: what doctor advises, such as cancel, reschedule, sweep, schedule pause
  serve-viewer, serve-operator, serve-admin
                  what serve does for callers of these roles, each on an account of its own
  serve-door      what serve knows its callers by
  owner           migrate, prune, reslot, and all of the above`,
		Example: "  prescient grants --role worker --user prescient --host '10.0.%' | mysql -u root -p",
		Args:    arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if tidb {
				g.account.Server = sql.TiDB
			}
			return printGrants(cmd, prog, g)
		},
	}
	cmd.Flags().StringSliceVar(&g.roles, "role", nil, strings.Join(sql.Roles(), ", ")+"; may be given several times")
	cmd.Flags().StringVar(&g.account.User, "user", "", "name of the account")
	cmd.Flags().StringVar(&g.account.Host, "host", "%", "host of the account")
	cmd.Flags().StringVar(&g.account.Database, "database", "", "database of the tables (default that of the DSN)")
	cmd.Flags().BoolVar(&tidb, "tidb", false, "for TiDB: as --dialect plain, with no rights on columns, which an INSERT does not heed there")
	cmd.Flags().BoolVar(&g.database, "whole-database", false, "take away rights on the whole database also where it has other tables")
	return cmd
}

func printGrants(cmd *cobra.Command, prog *program.Program, g granting) error {
	if len(g.roles) == 0 || g.account.User == "" {
		return exit.Usage(errors.New("give --role and --user, such as --role app --user shop"))
	}
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	if g.account.Database == "" {
		dsn, err := c.RequireDSN()
		if err != nil {
			return exit.Usage(fmt.Errorf("%w; or give --database", err))
		}
		parsed, err := mysql.ParseDSN(dsn)
		if err != nil {
			return exit.Usage(errors.New("the DSN cannot be read; give --database"))
		}
		g.account.Database = parsed.DBName
	}
	g.account.Prefix, g.account.Dialect = c.TablePrefix, sql.Dialect(c.Dialect)
	var comments string
	var grants []string
	for _, role := range g.roles {
		comment, statements, err := sql.Grants(role, g.account)
		if err != nil {
			return exit.Usage(err)
		}
		comments, grants = comments+comment, append(grants, statements...)
	}
	about, entry, err := sql.GrantEntry(g.roles, g.account)
	if err != nil {
		return exit.Usage(err)
	}
	said := granted{Roles: g.roles}
	surplus, alone, err := lookAt(cmd, prog, c, g, grants)
	if err != nil {
		if cmd.Context().Err() != nil || errors.Is(err, errVitessAccounts) {
			return err
		}
		said.NotLooked = words.Of(err)
	}
	said.Statements, said.OnDatabases = rights.Narrowing(grants, surplus, g.account.Name())
	if g.database || alone {
		said.Statements, said.OnDatabases = append(said.Statements, said.OnDatabases...), nil
	}
	if prog.JSON {
		if entry != "" {
			said.Statements = append(said.Statements, entry)
		}
		return output.JSON(cmd.OutOrStdout(), said)
	}
	return sayGrants(cmd.OutOrStdout(), g, said, comments, about, entry)
}

// sayGrants prints what a client of the server takes.
func sayGrants(out io.Writer, g granting, said granted, comments, about, entry string) error {
	p := output.To(out)
	p.Text(comments)
	if said.NotLooked != "" {
		p.Say("-- What %s has beyond that was not looked at: %s.\n"+
			"-- SHOW GRANTS FOR %s says what it has; REVOKE … ON … FROM %s takes away what stands there and not here.",
			g.account.Name(), strings.Join(strings.Fields(said.NotLooked), " "), g.account.Name(), g.account.Name())
	}
	for _, statement := range said.Statements {
		p.Say("%s;", statement)
	}
	if len(said.OnDatabases) > 0 {
		p.Say("-- It has rights on the whole database, which has other tables, too. Give it what it needs on those, and run:")
	}
	for _, statement := range said.OnDatabases {
		p.Say("-- %s;", statement)
	}
	if entry != "" {
		p.Say("%s\n%s;", about, entry)
	}
	return p.Err()
}

// errVitessAccounts is what there is to say where no GRANT is.
var errVitessAccounts = errors.New("there is no GRANT on Vitess: accounts are those of vtgate (--mysql-auth-server-impl), and their rights those of vttablet (--table-acl-config)")

// lookTimeout bounds how long it is looked what an account has.
const lookTimeout = 15 * time.Second

// lookAt returns what the account has beyond the grants, and whether the database holds no other tables. Why it could not look is the error.
func lookAt(cmd *cobra.Command, prog *program.Program, c config.Config, g granting, grants []string) (surplus rights.Set, alone bool, err error) {
	if _, err := c.RequireDSN(); err != nil {
		return nil, false, errors.New("there is no DSN to look by")
	}
	names, err := migrate.EverMade(g.account.Prefix)
	if err != nil {
		return nil, false, err
	}
	err = prog.Open(cmd, migrationLease, func(s *program.Session) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), lookTimeout)
		defer cancel()
		if server, err := sql.ServerOf(ctx, s.DB); err == nil && (server == sql.Vitess || server == sql.VitessShard) {
			return exit.Usage(errVitessAccounts)
		}
		has, err := rights.Has(ctx, s.DB, g.account.Name())
		if err != nil {
			return err
		}
		surplus = has.Within(g.account.Database, names).Beyond(rights.Parse(grants))
		if !surplus.OnDatabases() {
			return nil
		}
		var there []string
		if err := s.DB.SelectContext(ctx, &there, "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ? LIMIT 10000", g.account.Database); err != nil {
			return nil //nolint:nilerr // then it may have others
		}
		others := slices.ContainsFunc(there, func(name string) bool { return !slices.Contains(names, name) })
		alone = len(there) > 0 && !others
		return nil
	})
	return surplus, alone, err
}
