package page_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/page"
)

// withUsers has the page be one to which people sign in by users.
func (r *testRig) withUsers() {
	r.T.Helper()
	r.handler = handler(r.T, r.OpsAt(time.Time{}), page.Options{Users: true})
}

func TestAdminsSeeAndChangeWhoSignsIn(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.withUsers()
		r.look(ops.Admin, "/users").wants(t, 200, "There is none.")
		r.look(ops.Admin, "/").wants(t, 200, `href="/p/users"`)
		password := func(got reply) string {
			t.Helper()
			checkPage(t, "told", got.Body)
			found := regexp.MustCompile(`<pre tabindex="0">([A-Z2-7]{26})</pre>`).FindStringSubmatch(got.wants(t, 200, "shown this once").Body)
			if found == nil {
				t.Fatalf("there is no password in %s", got.Body)
			}
			return found[1]
		}
		all := append(writable(), "ada")
		for _, name := range all {
			action, form := r.look(ops.Admin, "/users/add", "name", name, "role", "operator", "_key", "of-another").wants(t, 200, "<option value=\"operator\" selected>", "This is <strong>").harmless(t).form(t)
			if form["_key"] == "of-another" || form["name"] != name {
				t.Errorf("%v", form)
			}
			form["role"], form["_reason"] = "viewer", "she is new"
			text := password(r.sends(ops.Admin, action, form).harmless(t))
			r.sends(ops.Admin, action, form).wants(t, 409, "It was not done", "there is such a user").harmless(t).lacks(t, text)
		}
		r.sends(ops.Admin, "/p/users/add", map[string]string{"name": "", "role": "viewer"}).wants(t, 422)
		r.sends(ops.Admin, "/p/users/add", map[string]string{"name": "eve", "role": "root"}).wants(t, 422)
		r.Exec("INSERT INTO p_web_session (hash, person, role, host, data, created_at, ends_at) VALUES (REPEAT('a', 32), ?, 'viewer', ?, '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR), (REPEAT('b', 32), 'ada', NULL, 'h', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)",
			"olga"+writable()[0], writable()[1])
		r.withUsers()
		r.look(ops.Admin, "/users").wants(t, 200, "Who signs in by a password", "<bdi>olga&lt;script", "single sign-on", "/p/users/end?name=olga%3Cscript").harmless(t)
		does := func(deed, name string, form map[string]string) reply {
			t.Helper()
			action, sent := r.look(ops.Admin, "/users/"+deed, "name", name).wants(t, 200).harmless(t).form(t)
			for field, value := range form {
				sent[field] = value
			}
			got := r.sends(ops.Admin, action, sent)
			if got.Code == http.StatusSeeOther {
				got = r.get(ops.Admin, got.Header.Get("Location"))
			}
			return got.wants(t, 200).harmless(t)
		}
		does("role", "ada", map[string]string{"role": "admin"}).wants(t, 200, "The user has that role.")
		does("end", "olga"+writable()[0], nil).wants(t, 200, "1 session is over")
		does("end", "ada", nil).wants(t, 200, "1 session is over")
		does("end", "ada", nil).wants(t, 200, "0 sessions are over")
		does("disable", "ada", nil).wants(t, 200, "The user signs in no more.", "disabled since", "/p/users/enable?name=ada")
		does("enable", "ada", nil).wants(t, 200, "The user signs in again.").lacks(t, "disabled since")
		text := password(does("password", "ada", nil))
		for _, query := range []string{"SELECT COUNT(*) FROM p_audit_log WHERE CONCAT(COALESCE(before_change, ''), COALESCE(after_change, '')) LIKE '%" + text + "%'", "SELECT COUNT(*) FROM p_api_key WHERE CONCAT(operation, COALESCE(answer, '')) LIKE '%" + text + "%'"} {
			if n := r.Count(query); n != 0 {
				t.Errorf("the password is kept: %s", query)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'user' AND id = 'ada' AND person = 'admin'"); n != 6 {
			t.Errorf("%d entries", n)
		}
		r.look(ops.Admin, "/users/role", "name", "nobody").wants(t, 404, "no such user")
		r.look(ops.Admin, "/users", "after_session", hostile[0]).wants(t, 422, "a session was expected").harmless(t)
		for _, role := range []ops.Role{ops.Viewer, ops.Operator} {
			r.look(role, "/").wants(t, 200).lacks(t, "/users")
			for _, path := range []string{"", "/add", "/role", "/password", "/disable", "/enable", "/end"} {
				r.look(role, "/users"+path, "name", "ada").wants(t, 403, "needs the role admin").lacks(t, "olga")
				if path != "" {
					r.sends(role, "/p/users"+path+"?name=ada", map[string]string{"role": "admin", "name": "mallory"}).wants(t, 403)
				}
			}
		}
	})
}

func TestInAServerOfOnesOwnThereAreNoUsers(t *testing.T) {
	h := handler(t, nil, page.Options{})
	for _, path := range []string{"/p/users", "/p/users/add", "/p/users/password?name=ada", "/p/login", "/p/logout", "/p/password"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User", "admin")
		if got := send(h, req).wants(t, 404); strings.Contains(got.Body, `href="/p/users`) {
			t.Error(got.Body)
		}
	}
}
