package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// MariaDB says of an account that has to be encrypted only that access is denied, as it does of a wrong password; so does
// MySQL. Whoever gave nothing of TLS is told that it may be that.
func TestAnAccountThatWantsTLSIsHintedAt(t *testing.T) {
	const hint = "if the server or the account wants TLS, as with require_secure_transport, give tls.ca_file, or tls=true in the DSN"
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		dsn := r.Account("worker")
		run := func(further ...string) rig.Result {
			env := map[string]string{"PRESCIENT_DSN": dsn}
			for i := 0; i < len(further); i += 2 {
				env[further[i]] = further[i+1]
			}
			return rig.Execute(r.Context(), cmd.Options{}, env, "", "run")
		}
		if got := run(); got.Code != cmd.ExitOK || strings.Contains(got.Err, hint) {
			r.Errorf("in plain text, where that is allowed: %v", got)
		}
		r.Exec("ALTER USER '" + r.User("worker") + "'@'%' REQUIRE SSL")
		got := run()
		got.Wants(r.T, cmd.ExitDatabase, "1045", hint)
		if strings.Contains(got.Err, "Secret-42") {
			r.Errorf("the password is shown: %v", got)
		}
		if got := run("PRESCIENT_TLS_SERVER_NAME", "db.example.com"); got.Code != cmd.ExitDatabase || strings.Contains(got.Err, hint) {
			r.Errorf("with TLS asked for: %v", got)
		}
	})
}
