package web_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/ops"
)

const password = "correct horse battery"

func TestUsersAreAddedListedChangedAndDisabledByTheCommand(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		with := func(stdin string, args ...string) rig.Result {
			r.Helper()
			return rig.Execute(t.Context(), cmd.Options{}, r.EnvironmentOf(nil), stdin, append([]string{"user"}, args...)...)
		}
		r.Says(r.OK("user", "list"), "there are no users")
		r.Says(r.OK("user", "sessions"), "there are no sessions")
		got := with(password+"\n", "add", "ada", "--role", "operator", "--reason", "on call")
		got.Wants(t, cmd.ExitOK)
		r.Says(got.Out, "user ada is operator, enabled")
		with(password+"\r\n", "add", "grace", "--admin").Wants(t, cmd.ExitOK)
		with(password, "add", "ada").Wants(t, cmd.ExitPending, "there is such a user: ada")
		with(password+"!", "password", "ada").Wants(t, cmd.ExitOK)
		r.OK("user", "role", "ada", "viewer")
		for range 2 {
			r.Says(r.OK("user", "disable", "ada"), "user ada is viewer, disabled since ")
		}
		list := r.OK("user", "list", "--json")
		all := rig.Lines[ops.User](t, list)
		if len(all) != 2 || all[0].Name != "ada" || all[0].Role != ops.Viewer || all[0].DisabledAt == nil || all[1].Role != ops.Admin || all[1].DisabledAt != nil || strings.Contains(list, "argon2") {
			r.Error(list)
		}
		r.Says(r.OK("user", "list"), "ada", "disabled since", "grace", "admin")
		r.Says(r.OK("user", "enable", "ada"), "enabled")
		r.Exec("INSERT INTO web_session (hash, person, role, host, data, created_at, ends_at) VALUES (RANDOM_BYTES(32), 'olga', 'viewer', '10.0.0.7', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)")
		r.Says(r.OK("user", "sessions"), "olga", "provider", "10.0.0.7")
		r.Says(r.OK("user", "sessions", "end", "olga"), "sessions of olga that are ended: 1")
		r.Says(r.OK("user", "sessions", "end", "olga"), "ended: 0")
		audit := r.OK("audit", "--kind", "user")
		r.Says(audit, "users.add", "users.password", "users.role", "users.disable", "users.enable", "users.end_sessions", "on call")
		if strings.Contains(audit, password) {
			r.Error(audit)
		}
		for _, wrong := range [][]string{{"add"}, {"add", "a", password}, {"add", "a", "--role", "root"}, {"add", "a", "--admin", "--role", "viewer"}, {"add", ""}, {"add", "a\u200b"}, {"add", strings.Repeat("x", 129)}, {"add", "a", "--password", password},
			{"role", "ada"}, {"role", "ada", "root"}, {"disable"}, {"list", "x"}, {"sessions", "end"}, {"remove", "ada"}} {
			with(password, wrong...).Wants(t, cmd.ExitUsage)
		}
		for _, bad := range []string{"", "short", password + "\n" + password, strings.Repeat("ab", 3000), "\xff" + password} {
			got := with(bad, "add", "b")
			if got.Wants(t, cmd.ExitUsage); bad != "" && len(bad) > 10 && strings.Contains(got.Err, bad) {
				r.Error(got)
			}
		}
		for _, line := range [][]string{{"disable", "nobody"}, {"enable", "nobody"}, {"role", "nobody", "viewer"}, {"password", "nobody"}} {
			with(password, line...).Wants(t, cmd.ExitNotFound, "no such user: nobody")
		}
		env := r.EnvironmentOf([]string{"pending"})
		rig.Execute(t.Context(), cmd.Options{}, env, password, "user", "add", "a").Wants(t, cmd.ExitDenied, "owner")
	})
}
