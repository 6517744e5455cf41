package web_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func user(r *rig.Rig, name, role string) {
	r.Helper()
	got := rig.Execute(r.Context(), cmd.Options{}, r.EnvironmentOf(nil), password, "user", "add", name, "--role", role)
	got.Wants(r.T, cmd.ExitOK)
}

func TestPeopleSignInToThePageOfServe(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		user(r, "ada", "operator")
		for _, role := range []string{"viewer", "operator", "admin", "door"} {
			r.Variables["PRESCIENT_SERVE_DSN_"+strings.ToUpper(role)] = r.Account("serve-" + role)
		}
		s := start(r, "--serve-address", "127.0.0.1:0", "--serve-place", "staging", "--serve-base-url", "http://127.0.0.1/ops")
		jar, err := cookiejar.New(nil)
		r.Must(err)
		browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		ask := func(path string, form url.Values) (int, string, string) {
			r.Helper()
			var response *http.Response
			if form == nil {
				response, err = browser.Get(s.url + path)
			} else {
				response, err = browser.PostForm(s.url+path, form)
			}
			r.Must(err)
			defer response.Body.Close()
			text, err := io.ReadAll(response.Body)
			r.Must(err)
			return response.StatusCode, response.Header.Get("Location"), string(text)
		}
		if code, to, text := ask("/ops/", nil); code != http.StatusSeeOther || !strings.HasPrefix(to, "/ops/login?next=%2Fops%2F") {
			r.Errorf("%d %s %s", code, to, text)
		}
		if code, _, text := ask("/ops/login", nil); code != http.StatusOK || !strings.Contains(text, "staging") {
			r.Errorf("%d %s", code, text)
		}
		if code, _, text := ask("/ops/login", url.Values{"name": {"ada"}, "password": {"wrong"}}); code != http.StatusUnauthorized {
			r.Errorf("%d %s", code, text)
		}
		if code, to, text := ask("/ops/login", url.Values{"name": {"ada"}, "password": {password}, "next": {"/ops/"}}); code != http.StatusSeeOther || to != "/ops/" {
			r.Errorf("%d %s %s", code, to, text)
		}
		if code, _, text := ask("/ops/", nil); code != http.StatusOK || !strings.Contains(text, "ada") || !strings.Contains(text, "operator") {
			r.Errorf("%d %s", code, text)
		}
		// The API takes no sessions, and is below the base, too.
		for _, path := range []string{pending, "/ops" + pending} {
			if code, _, text := ask(path, nil); code != http.StatusUnauthorized || !strings.Contains(text, "ErrUnauthorized") {
				r.Errorf("%s: %d %s", path, code, text)
			}
		}
		s.wants(200, `"rows":[]`, token(r, "viewer"), "/ops"+pending, "")
		log := s.Err.String()
		r.Says(log, `"person":"ada"`, "signed in")
		if strings.Contains(log, password) || strings.Contains(log, "argon2") {
			r.Errorf("the log has what it should not:\n%s", log)
		}
	})
}

func TestServeRefusesAProviderThatCannotWork(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		p := r.Start("serve", "serve", "--serve-address", "127.0.0.1:0", "--serve-oidc-issuer", "https://id.example.org", "--serve-oidc-client-id", "a", "--serve-oidc-roles", "*=viewer")
		p.Ends(t, cmd.ExitUsage)
		r.Says(p.Err.String(), "give the base URL of the page")
	})
}
