package rig

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
	case "cancel", "reschedule":
		if slices.Contains(args, "--yes") { // all that match
			return "oncall"
		}
	case "forward", "notify": // without routes and receivers, as in Uses, they ask nobody
		return "worker"
	case "insert":
		if !slices.Contains(args, "--on-pending") && !slices.Contains(args, "--file") {
			return "app"
		}
	}
	for words := min(2, len(args)); words > 0; words-- {
		if role := Uses[strings.Join(args[:words], " ")].Role; role != "" {
			return role
		}
	}
	return "owner"
}

// EnvironmentOf is that of a command line, by the account of its role. As long as there are no tables, it is the owner's.
func (r *Rig) EnvironmentOf(args []string) map[string]string {
	r.Helper()
	env := maps.Clone(r.Variables)
	_, parameters, _ := strings.Cut(env["PRESCIENT_DSN"][strings.LastIndex(env["PRESCIENT_DSN"], "/")+1:], "?")
	role := roleOf(args)
	if role != "owner" && r.Count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'history_lateness'") == 0 {
		role = "owner"
	}
	env["PRESCIENT_DSN"] = r.Account(role)
	if parameters != "" {
		env["PRESCIENT_DSN"] = servertest.WithParams(env["PRESCIENT_DSN"], parameters)
	}
	return env
}

// User is the name of the account of a role.
func (r *Rig) User(role string) string { return r.d.User(role) }

// Database is its name.
func (r *Rig) Database() string { return r.d.Name }

// Account makes an account that has a role and nothing else, once, and returns its DSN.
func (r *Rig) Account(role string) string {
	r.Helper()
	if dsn, made := r.accounts[role]; made {
		return dsn
	}
	server, err := sql.ServerOf(r.Context(), r.DB)
	r.Must(err)
	_, grants, err := sql.Grants(role, sql.Account{Database: r.d.Name, User: r.User(role), Server: server})
	r.Must(err)
	r.accounts[role] = r.d.Account(r.T, role, grants, func(statement string) {
		_, err := r.DB.ExecContext(context.WithoutCancel(r.Context()), statement)
		if e := new(mysql.MySQLError); !errors.As(err, &e) || e.Number != 1146 && e.Number != 1305 { // else of a later version
			r.Must(err)
		}
	})
	return r.accounts[role]
}

func (r *Rig) Exec(statement string) {
	r.Helper()
	_, err := r.DB.ExecContext(context.WithoutCancel(r.Context()), statement)
	r.Must(err)
}
