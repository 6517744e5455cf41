package cmd_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver/servertest"
	"prescient/sql"
)

// roleOf is the role that a command line is for.
func roleOf(args []string) string {
	if len(args) == 0 || slices.Contains(args, "--table-prefix") { // the other roles' rights are on the tables of none
		return "owner"
	}
	switch args[0] {
	case "doctor":
		switch {
		case slices.Contains(args, "owner"):
			return "owner"
		case slices.Contains(args, "operator"):
			return "operator"
		case slices.Contains(args, "app"):
			return "app-reschedule"
		}
	case "insert":
		if !slices.Contains(args, "--on-pending") && !slices.Contains(args, "--file") {
			return "app"
		}
	}
	if role := uses[args[0]].role; role != "" {
		return role
	}
	return "owner"
}

// environment is that of a command line, by the account of its role. As long as there are no tables, it is the owner's.
func (r *rig) environment(args []string) map[string]string {
	r.Helper()
	env := maps.Clone(r.env)
	_, parameters, _ := strings.Cut(env["PRESCIENT_DSN"][strings.LastIndex(env["PRESCIENT_DSN"], "/")+1:], "?")
	role := roleOf(args)
	if role != "owner" && r.count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'history_lateness'") == 0 {
		role = "owner"
	}
	env["PRESCIENT_DSN"] = r.account(role)
	if parameters != "" {
		env["PRESCIENT_DSN"] = servertest.WithParams(env["PRESCIENT_DSN"], parameters)
	}
	return env
}

// user is the name of the account of a role.
func (r *rig) user(role string) string { return r.d.User(role) }

func (r *rig) database() string { return r.d.Name }

// account makes an account that has a role and nothing else, once, and returns its DSN.
func (r *rig) account(role string) string {
	r.Helper()
	if dsn, made := r.accounts[role]; made {
		return dsn
	}
	config, err := mysql.ParseDSN(r.dsn)
	r.must(err)
	server, err := sql.ServerOf(r.Context(), r.db)
	r.must(err)
	a := sql.Account{Database: config.DBName, User: r.user(role), Server: server}
	name := "'" + a.User + "'@'%'"
	r.exec("CREATE USER " + name + " IDENTIFIED BY 'Secret-42'")
	r.Cleanup(func() { r.exec("DROP USER " + name) })
	_, statements, err := sql.Grants(role, a)
	r.must(err)
	for _, statement := range statements {
		_, err := r.db.ExecContext(context.WithoutCancel(r.Context()), statement)
		if e := new(mysql.MySQLError); errors.As(err, &e) && e.Number == 1146 {
			continue // of a later version
		}
		r.must(err)
	}
	config.User, config.Passwd = a.User, "Secret-42"
	r.accounts[role] = config.FormatDSN()
	return r.accounts[role]
}

func (r *rig) exec(statement string) {
	r.Helper()
	_, err := r.db.ExecContext(context.WithoutCancel(r.Context()), statement)
	r.must(err)
}
