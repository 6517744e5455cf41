package web_test

import (
	"net"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/api"
)

// refused runs a serve that is not to start.
func refused(r *rig.Rig, args ...string) rig.Result {
	r.Helper()
	return rig.Execute(r.Context(), cmd.Options{Serve: api.New}, r.EnvironmentOf(nil), "", append([]string{"serve"}, args...)...)
}

func TestServeStartsWhereOthersReachItOnlyWithATokenOrAWord(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		refused(r).Wants(t, cmd.ExitTables, "migrate")
		r.OK("migrate")
		refused(r, "--serve-address", "0.0.0.0:0").Wants(t, cmd.ExitUsage, "no token is good", "token create", "user add", "serve.open")
		refused(r, "--serve-address", ":0").Wants(t, cmd.ExitUsage, "no token is good")
		refused(r, "--serve-open", "root").Wants(t, cmd.ExitUsage, "viewer, operator, admin")
		refused(r, "--serve-tls-cert-file", "x").Wants(t, cmd.ExitUsage, "serve.tls_key_file is missing")
		refused(r, "--serve-tls-cert-file", "x", "--serve-tls-key-file", "x", "--serve-address", "127.0.0.1:0").Wants(t, cmd.ExitUsage, "serve.tls_cert_file")
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		r.Must(err)
		defer taken.Close()
		refused(r, "--serve-address", taken.Addr().String()).Wants(t, cmd.ExitFailure, "serve.address", "in use")
		token(r, "viewer")
		r.Exec("UPDATE api_token SET expires_at = UTC_TIMESTAMP(6)")
		refused(r, "--serve-address", "0.0.0.0:0").Wants(t, cmd.ExitUsage, "no token is good")
		s := start(r, "--serve-address", "0.0.0.0:0", "--serve-open", "viewer")
		s.wants(200, `"rows":[]`, "", pending, "")
		s.wants(403, "ErrForbidden", "", "/api/v1/checks/cancel", `{"entity":"order/42"}`)
		good := token(r, "viewer")
		s = start(r, "--serve-address", "0.0.0.0:0")
		s.Process.Says(t, "there is no TLS")
		s.wants(401, "ErrUnauthorized", "", pending, "")
		s.wants(200, `"rows":[]`, good, pending, "")
		r.Exec("DELETE FROM api_token")
		user(r, "ada", "viewer")
		start(r, "--serve-address", "0.0.0.0:0")
	})
}

// A page of another site that has its own name lead here gets nothing of what is open to this machine.
func TestWhatIsOpenIsOpenForLocalhostAlone(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		s := start(r, "--serve-address", "127.0.0.1:0", "--serve-open", "operator")
		for host, code := range map[string]int{"": 200, "localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1": 200, "[::1]:80": 200, "[::1]": 200, "localhost.": 200,
			"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421, "127.0.0.1.nip.io": 421, "10.0.0.1": 421} {
			if got, text := s.ask("", pending, "", host); got != code {
				r.Errorf("%q: %d %s; want %d", host, got, text, code)
			}
		}
		if got, text := s.ask("", "/api/v1/checks/cancel", `{"entity":"order/42"}`, "evil.example"); got != 421 {
			r.Errorf("%d %s", got, text)
		}
		s.wants(200, `{"count":0}`, "", "/api/v1/checks/cancel", `{"entity":"order/42"}`)
		s.wants(401, "ErrUnauthorized", "pst_x", pending, "") // a bad token is refused all the same
	})
}

func TestThereIsNoServeWhereAProgramMountsNone(t *testing.T) {
	t.Parallel()
	rig.Execute(t.Context(), cmd.Options{}, nil, "", "serve").Wants(t, cmd.ExitUsage, "unknown command", "serve")
	rig.Execute(t.Context(), cmd.Options{}, nil, "", "units", "systemd", "--serve", "--binary", "/opt/prescient").Wants(t, cmd.ExitUsage, "--serve")
}

func TestAPasswordOfServeStandsInNoFlag(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"viewer", "operator", "admin", "door"} {
		got := rig.Execute(t.Context(), cmd.Options{Serve: api.New}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", "serve", "--serve-dsn-"+role, rig.NoServer)
		got.Wants(t, cmd.ExitUsage, "serve.dsn_"+role, "PRESCIENT_SERVE_DSN_")
		if strings.Contains(got.Err, "topsecret") {
			t.Error(got)
		}
	}
}
