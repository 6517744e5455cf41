package web_test

import (
	"regexp"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/ops"
)

func TestTokensAreMadeListedRotatedAndRevokedByTheCommand(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		if got := r.OK("token", "list"); !strings.Contains(got, "there are no tokens") {
			r.Error(got)
		}
		got := r.Execute("token", "create", "ci", "--role", "operator", "--for", "30d", "--reason", "builds")
		if !regexp.MustCompile(`^pst_[A-Za-z0-9_-]{43}\n$`).MatchString(got.Out) || !strings.Contains(got.Err, "token 1 of ci (operator), good until ") || strings.Contains(got.Err, "pst_") {
			r.Error(got)
		}
		made := rig.Lines[ops.MadeToken](t, r.OK("token", "rotate", "1", "--overlap", "1h", "--json"))[0]
		if made.Number != 2 || made.Name != "ci" || made.Role != ops.Operator || !strings.HasPrefix(made.Secret, "pst_") {
			r.Errorf("%+v", made)
		}
		r.OK("token", "revoke", "2")
		r.OK("token", "revoke", "2") // again
		list := r.OK("token", "list", "--json")
		all := rig.Lines[ops.Token](t, list)
		if len(all) != 2 || all[0].State != "live" || all[1].State != "revoked" || strings.Contains(list, "pst_") {
			r.Error(list)
		}
		r.Says(r.OK("token", "list"), "ci", "operator", "live", "revoked")
		r.Says(r.OK("audit", "--kind", "token"), "tokens.create", "tokens.rotate", "tokens.revoke", "builds")
		for _, wrong := range [][]string{{"create"}, {"create", "a"}, {"create", "a", "--role", "root"}, {"create", "", "--role", "viewer"}, {"create", "a", "--role", "viewer", "--for", "367d"},
			{"create", "a", "--role", "viewer", "--for", "0s"}, {"rotate", "x"}, {"rotate", "1", "--overlap", "31d"}, {"rotate", "2"}, {"revoke"}, {"revoke", "-1"}, {"list", "x"}, {"make"}} {
			r.Execute(append([]string{"token"}, wrong...)...).Wants(t, cmd.ExitUsage)
		}
		r.Execute("token", "revoke", "4711").Wants(t, cmd.ExitNotFound, "no such token: 4711")
		r.Execute("token", "rotate", "4711").Wants(t, cmd.ExitNotFound, "no such token: 4711")
		// Who may change orders may not let others in.
		env := r.EnvironmentOf([]string{"pending"})
		rig.Execute(t.Context(), cmd.Options{}, env, "", "token", "create", "a", "--role", "viewer").Wants(t, cmd.ExitDenied, "owner")
	})
}
