package login_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/page/login"
)

func TestAUserSignsInAndOut(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Operator)
		b := r.browser()
		b.is("")
		r.wants(b.ask("/login?next=/ops/slots"), 200, `name="password"`, `value="/ops/slots"`)
		got := b.signIn("ada", password)
		r.wants(got, 303, "/ops/slots")
		b.is("ada is operator")
		r.wants(b.ask("/login?next=/ops/now"), 303, "/ops/now") // there already
		var cookies []string
		for _, cookie := range got.Headers.Values("Set-Cookie") {
			for _, want := range []string{"__Secure-prescient-", "HttpOnly", "Secure", "SameSite=Lax", "Path=/ops"} {
				if !strings.Contains(cookie, want) {
					t.Errorf("%s has no %s", cookie, want)
				}
			}
			cookies = append(cookies, strings.SplitN(strings.SplitN(cookie, ";", 2)[0], "=", 2)[1])
		}
		if len(cookies) != 2 {
			t.Errorf("%q", cookies)
		}
		// Of what the browser has the table has hashes alone.
		if n := r.Count(fmt.Sprintf("SELECT COUNT(*) FROM p_web_session WHERE hash = UNHEX(SHA2('%s', 256)) AND person = 'ada' AND host = '127.0.0.1' AND role IS NULL AND CONCAT(hash, data) NOT LIKE '%%%[1]s%%'", cookies[0])); n != 1 {
			t.Errorf("%d rows", n)
		}
		r.Eventually("the use is noted", func() bool { // by a later look where the database takes longer for it than it may
			if r.Count("SELECT COUNT(*) FROM p_web_user WHERE name = 'ada' AND last_used_at > UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE") == 1 {
				return true
			}
			r.pass(login.Remembered)
			b.is("ada is viewer")
			return false
		})
		r.wants(b.ask("/logout", "x", "y"), 303, "/ops/login")
		b.is("")
		if n := r.Count("SELECT COUNT(*) FROM p_web_session"); n != 0 {
			t.Errorf("%d sessions", n)
		}
		r.wants(b.ask("/logout", "x", "y"), 303) // again
	})
}

func TestAWrongNameAndAWrongPasswordGetTheSameAnswer(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		r.add("off", ops.Viewer)
		_, err := ops.DisableUser.Do(t.Context(), r.Ops, served.By(ops.Admin), ops.OfUser{Name: "off"})
		r.Must(err)
		var first string
		for _, tried := range [][2]string{{"ada", password + "!"}, {"ada", ""}, {"ada", strings.Repeat("x", 5000)}, {"Ada", password}, {"nobody", password}, {"off", password}, {"ada ", password}, {strings.Repeat("x", 200), password}} {
			b := r.browser()
			got := b.signIn(tried[0], tried[1])
			r.wants(got, 401, "The name or the password is wrong.")
			body := strings.ReplaceAll(got.Body, `value="`+tried[0]+`"`, `value=""`)
			body = strings.ReplaceAll(body, " autofocus", "")
			if first == "" {
				first = body
			}
			if body != first || len(got.Headers.Values("Set-Cookie")) != 0 {
				t.Errorf("%q: %s\n%q", tried, body, got.Headers)
			}
			b.is("")
		}
	})
}

// A stranger's preparing of a browser is of no use: neither a token of the stranger's own, nor one that is none.
func TestASessionIsNewWhenSomebodySignsIn(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		r.add("eve", ops.Viewer)
		name, _ := r.login.Cookies()
		eve := r.browser()
		r.wants(eve.signIn("eve", password), 303)
		tokenOf := func(b *browser) string {
			for _, c := range b.Jar.Cookies(r.request("/slots").URL) {
				if c.Name == name {
					return c.Value
				}
			}
			return ""
		}
		for _, prepared := range []string{tokenOf(eve), strings.Repeat("A", 43), "x", "' OR 1=1 -- "} {
			b := r.browser()
			b.Jar.SetCookies(r.request("/").URL, []*http.Cookie{{Name: name, Value: prepared, Path: "/ops", Secure: true}})
			r.wants(b.signIn("ada", password), 303)
			if got := tokenOf(b); got == prepared || got == "" {
				t.Errorf("%q is the token still", got)
			}
			b.is("ada is viewer")
		}
		r.pass(login.Remembered)
		eve.is("") // ada's browser ended it
	})
}

func (r *testRig) request(path string) *http.Request {
	return httptest.NewRequest("GET", r.base+path, nil)
}

func TestWhoIsDisabledOrHasAnotherRoleIsSoWithinTenSeconds(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		admin, ada := served.By(ops.Admin), ops.OfUser{Name: "ada"}
		r.add("ada", ops.Viewer)
		b := r.browser()
		r.wants(b.signIn("ada", password), 303)
		b.is("ada is viewer")
		_, err := ops.SetUserRole.Do(t.Context(), r.Ops, admin, ops.NewRole{OfUser: ada, Role: ops.Admin})
		r.Must(err)
		b.is("ada is viewer") // as it is remembered
		r.pass(login.Remembered)
		b.is("ada is admin")
		_, err = ops.DisableUser.Do(t.Context(), r.Ops, admin, ada)
		r.Must(err)
		r.pass(login.Remembered)
		b.is("")
		_, err = ops.EnableUser.Do(t.Context(), r.Ops, admin, ada)
		r.Must(err)
		b.is("ada is admin")
		_, err = ops.EndSessions.Do(t.Context(), r.Ops, admin, ada)
		r.Must(err)
		r.pass(login.Remembered)
		b.is("")
		r.wants(b.signIn("ada", password), 303)
		_, err = ops.SetUserPassword.Do(t.Context(), r.Ops, admin, ops.NewPassword{OfUser: ada, Password: password + "!"})
		r.Must(err)
		r.pass(login.Remembered)
		b.is("")
		r.wants(b.signIn("ada", password+"!"), 303)
		b.is("ada is admin")
		r.Exec("UPDATE p_web_session SET created_at = created_at - INTERVAL 1 DAY, ends_at = UTC_TIMESTAMP(6)")
		r.Exec("UPDATE p_web_user SET changed_at = changed_at - INTERVAL 2 DAY")
		r.pass(login.Remembered)
		b.is("")
	})
}

func TestTwoUsersAtOnceAreKeptApart(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Admin)
		r.add("grace", ops.Viewer)
		ada, grace := r.browser(), r.browser()
		for b, name := range map[*browser]string{ada: "ada", grace: "grace"} {
			r.wants(b.signIn(name, password), 303)
		}
		done := make(chan []string, 2)
		for b, want := range map[*browser]string{ada: "ada is admin", grace: "grace is viewer"} {
			go func() {
				var wrong []string
				for range 200 {
					if got := b.ask("/slots"); got.Body != want {
						wrong = append(wrong, got.Body)
					}
				}
				done <- wrong
			}()
		}
		for range 2 {
			if wrong := <-done; wrong != nil {
				t.Errorf("%q", wrong)
			}
		}
		r.wants(ada.ask("/logout", "x", "y"), 303)
		ada.is("")
		grace.is("grace is viewer")
	})
}

func TestAPasswordIsChangedAndOtherSessionsAreOver(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		here, there := r.browser(), r.browser()
		r.wants(here.ask("/password"), 303, "/ops/login?next=%2Fops%2Fpassword")
		r.wants(here.signIn("ada", password), 303)
		r.wants(there.signIn("ada", password), 303)
		r.wants(here.ask("/password"), 200, `name="again"`, "ada")
		for _, wrong := range []struct{ old, wanted, again, says string }{{password, "short", "short", "too short"}, {password, password + "!", password + "?", "differ"}, {password, password, password, "the old one"},
			{password + "x", password + "!", password + "!", "The old password is another."}, {"", "", "", "the old one"}} {
			r.wants(here.ask("/password", "old", wrong.old, "new", wrong.wanted, "again", wrong.again), 422, wrong.says)
		}
		r.wants(here.ask("/password", "old", password, "new", password+"!", "again", password+"!"), 303, "changed=1")
		r.wants(here.ask("/password?changed=1"), 200, "The password is changed.")
		r.pass(login.Remembered)
		there.is("")
		here.is("ada is viewer")
		r.wants(r.browser().signIn("ada", password), 401)
		r.wants(there.signIn("ada", password+"!"), 303)
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'user' AND id = 'ada' AND verb = 'password' AND person = 'ada' AND host = '127.0.0.1' AND CONCAT(COALESCE(before_change, ''), after_change) NOT LIKE '%argon%'"); n != 1 {
			t.Errorf("%d entries", n)
		}
	})
}

// Between the look at a password and the session the password may be changed.
func TestNoSessionBeginsByAPasswordThatWasChangedMeanwhile(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		var hash string
		r.Must(r.Root.QueryRowContext(t.Context(), "SELECT password FROM p_web_user").Scan(&hash))
		_, err := ops.SetUserPassword.Do(t.Context(), r.Ops, served.By(ops.Admin), ops.NewPassword{OfUser: ops.OfUser{Name: "ada"}, Password: password + "!"})
		r.Must(err)
		w := httptest.NewRecorder()
		if is, err := r.login.Begin(w, r.request("/login"), "ada", hash); is || err != nil || len(w.Result().Cookies()) != 0 {
			t.Errorf("%t, %v, %v", is, err, w.Result().Cookies())
		}
		if n := r.Count("SELECT COUNT(*) FROM p_web_session"); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestWhatAnotherSiteSendsIsNotDone(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		for _, headers := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}}, {"Origin": {"null"}}} {
			b := r.browser()
			b.headers = headers
			r.wants(b.signIn("ada", password), 403)
			b.is("")
		}
		b := r.browser()
		r.wants(b.signIn("ada", password), 303)
		b.headers = http.Header{"Sec-Fetch-Site": {"cross-site"}}
		r.wants(b.ask("/logout", "x", "y"), 403)
		r.wants(b.ask("/password", "old", password, "new", password+"!", "again", password+"!"), 403)
		b.is("ada is viewer")
		// Nor is anything changed by a GET.
		r.wants(b.ask("/logout"), 405)
	})
}

func TestNobodyIsSentElsewhereAfterSigningIn(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		b := r.browser()
		r.wants(b.signIn("ada", password), 303)
		for _, next := range []string{"https://evil.example/ops/", "//evil.example/ops", "/\\evil.example", "/ops/../..//evil.example", "javascript:alert(1)", "/other", "/opsx", "\thttps://evil.example", "/ops/%0d%0aSet-Cookie:x", ""} {
			got := b.ask("/login?next=" + strings.NewReplacer("%", "%25", "\t", "%09", "\\", "%5C", "+", "%2B", "&", "%26").Replace(next))
			if to := got.Headers.Get("Location"); got.Code != 303 || !strings.HasPrefix(to, "/ops/") || strings.Contains(to, "evil") || strings.ContainsAny(to, "\r\n") {
				t.Errorf("%q leads to %q", next, to)
			}
		}
	})
}

func TestWhatIsNoFormIsRefused(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		b := r.browser()
		r.wants(b.ask("/login", "name", strings.Repeat("x", 20<<10)), 400, "Not a form of ours")
		r.wants(b.ask("/login/provider"), 404) // there is none
		got := b.ask("/login", "name", `"><script>alert(1)</script>`, "password", "x", "next", `/ops/"><script>`)
		r.wants(got, 401)
		if strings.Contains(got.Body, "<script>alert") || strings.Contains(got.Body, `"><script>`) {
			t.Error(got.Body)
		}
		if csp := got.Headers.Get("Content-Security-Policy"); !strings.Contains(csp, "form-action 'self'") || !strings.Contains(csp, "frame-ancestors 'none'") || got.Headers.Get("Cache-Control") != "no-store" {
			t.Errorf("%q", got.Headers)
		}
	})
}

func TestWhileTheDatabaseIsAwayThePageSaysSo(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		b := r.browser()
		r.wants(b.signIn("ada", password), 303)
		b.is("ada is viewer")
		r.Exec("RENAME TABLE p_web_session TO p_away")
		b.is("ada is viewer") // for ten seconds
		r.pass(login.Remembered)
		if _, _, err := r.login.Who(r.with(b, "/slots")); err == nil || errors.Is(err, ops.ErrUnauthorized) {
			t.Error(err)
		}
		r.wants(b.ask("/login"), 503, "The database")
		r.wants(r.browser().signIn("ada", password), 503, "The database")
		r.Exec("RENAME TABLE p_away TO p_web_session")
		b.is("ada is viewer")
	})
}

// with is a request with a browser's cookies.
func (r *testRig) with(b *browser, path string) *http.Request {
	q := r.request(path)
	for _, c := range b.Jar.Cookies(q.URL) {
		q.AddCookie(c)
	}
	return q
}

func TestCookiesAreAsHardAsTheAddressLets(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		names := make(map[string]bool)
		for base, prefix := range map[string]string{"": "prescient-", "http://ops.example.org": "prescient-", "https://ops.example.org": "__Host-prescient-", "https://ops.example.org/a": "__Secure-prescient-", "https://ops.example.org/b/": "__Secure-prescient-"} {
			l, err := login.New(t.Context(), r.As("serve-door", time.Time{}), login.Options{Prefix: "p_", Dialect: r.Setting, BaseURL: base})
			r.Must(err)
			name, known := l.Cookies()
			if !strings.HasPrefix(name, prefix) || !strings.HasSuffix(known, "-known") || names[name] {
				t.Errorf("%s: %s, %s", base, name, known)
			}
			names[name] = true
		}
		if _, err := login.New(t.Context(), r.As("serve-door", time.Time{}), login.Options{Prefix: "p_", Dialect: r.Setting, BaseURL: "ops.example.org"}); err == nil {
			t.Error("a base that is none is taken")
		}
	})
}
