package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// served is a serve at work, as a process of its own.
type served struct {
	*rig.Rig
	*rig.Process
	url string
}

// start starts serve, and waits until it listens.
func start(r *rig.Rig, args ...string) *served {
	r.Helper()
	p := r.Start("serve", append([]string{"serve", "--log-level", "debug", "--log-format", "json"}, args...)...)
	p.Says(r.T, `"message":"serving"`)
	for line := range strings.Lines(p.Err.String()) {
		var said struct{ Address, Message string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Message == "serving" {
			return &served{r, p, "http://127.0.0.1" + said.Address[strings.LastIndex(said.Address, ":"):]}
		}
	}
	r.Fatal("no address")
	return nil
}

// ask sends a request; a body makes it a POST, and a host is that of its header.
func (s *served) ask(token, path, body, host string) (int, string) {
	s.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	s.Must(err)
	request.Host = host
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	s.Must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	s.Must(err)
	return response.StatusCode, string(text)
}

// wants fails unless a request is answered so.
func (s *served) wants(code int, says, token, path, body string) {
	s.Helper()
	if got, text := s.ask(token, path, body, ""); got != code || !strings.Contains(text, says) {
		s.Errorf("%s %s: %d %s; want %d, %s", path, body, got, text, code, says)
	}
}

func token(r *rig.Rig, role string) string {
	r.Helper()
	return strings.TrimSpace(r.OK("token", "create", "ci", "--role", role))
}

const pending = "/api/v1/checks/pending?entity=order/42"

func TestServeDoesWhatATokenLetsItsCallerDo(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		operator, viewer := token(r, "operator"), token(r, "viewer")
		s := start(r, "--serve-address", "127.0.0.1:0")
		insert := fmt.Sprintf(`{"checks":[{"entity":"order/42","job_exec":"ship","due_at":%q,"payload":{"secret":1}}]}`, time.Now().Add(3*time.Hour).UTC().Format(time.RFC3339))
		s.wants(200, `"did":"inserted"`, operator, "/api/v1/checks/insert", insert)
		s.wants(200, `"payload":{"secret":1}`, operator, "/api/v1/checks/get?entity=order/42&job_exec=ship", "")
		s.wants(200, `"payload":null`, viewer, pending, "")
		s.wants(403, "ErrForbidden", viewer, "/api/v1/checks/cancel", `{"entity":"order/42"}`)
		s.wants(200, `{"count":1}`, operator, "/api/v1/checks/cancel", `{"entity":"order/42"}`)
		s.wants(401, "ErrUnauthorized", "", pending, "")
		s.wants(401, "not known", "pst_"+strings.Repeat("A", 43), pending, "")
		s.wants(401, "ErrUnauthorized", "operator", pending, "")
		s.wants(200, "ok", "", "/healthz", "")
		s.wants(200, `"openapi": "3.1`, "", "/api/v1/openapi.json", "")
		r.OK("token", "revoke", "1")
		s.wants(401, "revoked", operator, pending, "")
		r.Exec("UPDATE api_token SET expires_at = UTC_TIMESTAMP(6)")
		s.wants(401, "expired", viewer, pending, "")
		if n := r.Count("SELECT COUNT(*) FROM audit_log WHERE kind = 'check' AND person = 'ci' AND host = '127.0.0.1' AND command = 'checks.cancel'"); n != 1 {
			r.Errorf("%d entries of the cancel", n)
		}
		r.Must(s.Process.Process.Signal(syscall.SIGTERM))
		s.Ends(t, cmd.ExitOK)
		log := s.Err.String()
		r.Says(log, `"path":"/api/v1/checks/pending"`, `"status":401`, `"message":"stopped"`)
		if strings.Contains(log, "pst_") || strings.Contains(log, "order/42") || strings.Contains(log, "secret") {
			r.Errorf("the log has what it should not:\n%s", log)
		}
	})
}

func TestServeBelievesItsProxiesAlone(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		operator := token(r, "operator")
		for _, test := range []struct{ proxies, host string }{{"127.0.0.1", "198.51.100.1"}, {"10.0.0.7", "127.0.0.1"}} {
			s := start(r, "--serve-address", "127.0.0.1:0", "--serve-proxies", test.proxies)
			request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.url+"/api/v1/checks/insert", strings.NewReader(fmt.Sprintf(`{"checks":[{"entity":"order/42","job_exec":"ship","due_at":%q}]}`, time.Now().Add(3*time.Hour).UTC().Format(time.RFC3339))))
			r.Must(err)
			request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + operator}, "X-Forwarded-For": {"192.0.2.1, 198.51.100.1"}}
			response, err := http.DefaultClient.Do(request)
			r.Must(err)
			_ = response.Body.Close()
			s.wants(200, `{"count":1}`, operator, "/api/v1/checks/cancel", `{"entity":"order/42"}`)
			r.Must(s.Process.Process.Signal(syscall.SIGTERM))
			s.Ends(t, cmd.ExitOK)
			r.Says(s.Err.String(), fmt.Sprintf(`"path":"/api/v1/checks/insert","status":200,"from":%q`, test.host))
		}
	})
}

func TestServeUsesAnAccountForEachRole(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		for _, role := range []string{"viewer", "operator", "admin", "door"} {
			r.Variables["PRESCIENT_SERVE_DSN_"+strings.ToUpper(role)] = r.Account("serve-" + role)
		}
		admin := token(r, "admin")
		s := start(r, "--serve-address", "127.0.0.1:0")
		s.wants(200, `"rows":[]`, admin, pending, "")
		s.wants(200, `"token":"pst_`, admin, "/api/v1/tokens/create", `{"name":"ada","role":"viewer"}`)
		s.wants(200, `"did":"inserted"`, admin, "/api/v1/checks/insert", fmt.Sprintf(`{"checks":[{"entity":"order/42","job_exec":"ship","due_at":%q}]}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
		s.wants(200, "prescient_serve_connections_closed_total 0", admin, "/api/v1/metrics", "")
		s.wants(200, `prescient_serve_refused_total{why="rate"} 0`, admin, "/api/v1/metrics", "")
		if strings.Contains(s.Err.String(), "lacks rights") {
			r.Error(s.Err.String())
		}
		// What an account lacks is named, and all else goes on.
		dsn := r.Variables["PRESCIENT_SERVE_DSN_OPERATOR"]
		r.Variables["PRESCIENT_SERVE_DSN_OPERATOR"] = r.Variables["PRESCIENT_SERVE_DSN_VIEWER"]
		r.Says(start(r, "--serve-address", "127.0.0.1:0").Err.String(), `"account":"serve.dsn_operator"`, `DELETE on `, "grants --role serve-operator")
		// Of the one that is wrong it says which.
		r.Variables["PRESCIENT_SERVE_DSN_OPERATOR"] = "nobody:topsecret" + dsn[strings.LastIndex(dsn, "@"):]
		got := refused(r, "--serve-address", "127.0.0.1:0")
		got.Wants(t, cmd.ExitDatabase, "serve.dsn_operator, nobody:***@tcp(")
		if strings.Contains(got.Err, "topsecret") {
			r.Error(got)
		}
	})
}
