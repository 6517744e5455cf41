package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
)

// MariaDB says of an account that has to be encrypted only that access is denied, as it does of a wrong password; so does
// MySQL. Whoever gave nothing of TLS is told that it may be that.
func TestAnAccountThatWantsTLSIsHintedAt(t *testing.T) {
	const hint = "if the server or the account wants TLS, give tls.ca_file"
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		dsn := r.account("worker")
		run := func(further ...string) result {
			env := map[string]string{"PRESCIENT_DSN": dsn}
			for i := 0; i < len(further); i += 2 {
				env[further[i]] = further[i+1]
			}
			return execute(r.Context(), cmd.Options{}, env, "", "run")
		}
		if got := run(); got.code != cmd.ExitOK || strings.Contains(got.err, hint) {
			r.Errorf("in plain text, where that is allowed: %v", got)
		}
		r.exec("ALTER USER '" + r.user("worker") + "'@'%' REQUIRE SSL")
		got := run()
		got.wants(r.T, cmd.ExitDatabase, "1045", hint)
		if strings.Contains(got.err, "Secret-42") {
			r.Errorf("the password is shown: %v", got)
		}
		if got := run("PRESCIENT_TLS_SERVER_NAME", "db.example.com"); got.code != cmd.ExitDatabase || strings.Contains(got.err, hint) {
			r.Errorf("with TLS asked for: %v", got)
		}
	})
}
