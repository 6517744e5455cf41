package login_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prescient/prescient/internal/rig/openid"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page/login"
)

func TestASessionThatIsUsedGoesOnAndOthersEnd(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		b := r.browser()
		r.wants(b.signIn("ada", password), 303)
		// That a session is used is noted by one of the next looks, where the database takes longer for it than it may.
		lasts := func(hours, minutes int) {
			t.Helper()
			most := hours*3600 + minutes*60
			r.Eventually(fmt.Sprintf("it lasts %d h %d min", hours, minutes), func() bool {
				n := r.Count("SELECT TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(6), ends_at) FROM p_web_session")
				if n <= most && n >= most-50 {
					return true
				}
				r.pass(login.Remembered)
				b.is("ada is viewer")
				return false
			})
		}
		ages := func(column, by string) {
			t.Helper()
			r.Exec("UPDATE p_web_session SET " + column + " = " + column + " - INTERVAL " + by)
			r.pass(login.Remembered)
		}
		r.Exec("UPDATE p_web_user SET changed_at = changed_at - INTERVAL 2 DAY")
		lasts(2, 0)
		ages("ends_at", "90 MINUTE")
		b.is("ada is viewer")
		lasts(2, 0)
		ages("created_at", "11 HOUR")
		b.is("ada is viewer")
		lasts(2, 0) // what it has already it keeps
		ages("ends_at", "110 MINUTE")
		b.is("ada is viewer")
		lasts(1, 0) // the rest of the twelve hours
		// Who else has the row is waited for by nobody.
		ages("ends_at", "50 MINUTE")
		tx, err := r.Root.BeginTx(t.Context(), nil)
		r.Must(err)
		defer tx.Rollback()
		_, err = tx.ExecContext(t.Context(), "UPDATE p_web_session SET host = 'x'")
		r.Must(err)
		b.is("ada is viewer")
		r.Must(tx.Rollback())
		lasts(0, 10)
		ages("created_at", "1 HOUR")
		b.is("")
		ages("created_at", "-1 HOUR")
		b.is("ada is viewer")
		ages("ends_at", "61 MINUTE")
		b.is("")
	})
}

// Each look for a session that is none costs the database something, and anybody may ask for one.
func TestSessionsThatAreNoneAreNotLookedUpForEver(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		b := r.browser()
		r.wants(b.signIn("ada", password), 303)
		name, _ := r.login.Cookies()
		var all sync.WaitGroup
		var refused atomic.Int64
		for i := range 400 {
			all.Go(func() {
				stranger := r.browser()
				stranger.headers.Set("Cookie", fmt.Sprintf("%s=%043d", name, i))
				if got := stranger.ask("/slots"); strings.Contains(got.Body, "too many") {
					refused.Add(1)
				}
			})
		}
		all.Wait()
		if n := refused.Load(); n < 100 {
			t.Errorf("%d are refused", n)
		}
		b.is("ada is viewer")
		// Somebody else at the address signs in all the same, also with a cookie of a session that is over.
		other := r.browser()
		other.headers.Set("Cookie", fmt.Sprintf("%s=%043d", name, 7))
		r.wants(other.ask("/login"), 200, `name="password"`)
		r.wants(other.ask("/logout", "x", "y"), 429)
		other.headers.Del("Cookie")
		r.wants(other.signIn("ada", password), 303)
		other.is("ada is viewer")
	})
}

func TestRequestsThatAreNotWhatTheySeemAreAnsweredSo(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		form, plain := "application/x-www-form-urlencoded", "text/plain"
		good := "name=ada&password=" + strings.ReplaceAll(password, " ", "+")
		for _, c := range []struct {
			method, path, kind, body string
			headers                  []string
			code                     int
			to                       string
		}{
			{"POST", "/login", form, good, nil, 303, "/ops/"},
			{"POST", "/login", plain, good, nil, 401, ""},
			{"POST", "/login", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nada\r\n--x--\r\n", nil, 401, ""},
			{"POST", "/login?" + good, form, "", nil, 401, ""}, // a link signs nobody in
			{"POST", "/login", form, good + "&%zz", nil, 400, ""},
			{"POST", "/login", form, "name=nobody&" + good, nil, 401, ""}, // the first counts
			{"POST", "/login", form, strings.Repeat("a&", 9<<10), nil, 400, ""},
			{"POST", "/login", form, good + "&next=//evil.example", nil, 303, "/ops/"},
			{"POST", "/login", form, good + "&next=/ops/%5cevil.example", nil, 303, "/ops/"},
			{"POST", "/login", form, good, []string{"Origin", "https://evil.example"}, 403, ""},
			{"POST", "/login", form, good, []string{"Origin", "null"}, 403, ""},
			{"POST", "/login", form, good, []string{"Origin", strings.TrimSuffix(r.base, "/ops") + ".evil.example"}, 403, ""},
			{"POST", "/login", form, good, []string{"Origin", strings.TrimSuffix(r.base, "/ops")}, 303, "/ops/"},
			{"POST", "/login", form, good, []string{"Sec-Fetch-Site", "same-site"}, 403, ""},
			{"GET", "/login?next=/ops/slots", "", "", []string{"X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http", "X-Forwarded-Prefix", "/x"}, 200, ""},
			{"GET", "/login", "", "", []string{"Host", "evil.example"}, 200, ""},
			{"GET", "/logout", "", "", nil, 405, ""}, {"HEAD", "/logout", "", "", nil, 405, ""}, {"PUT", "/login", form, good, nil, 405, ""}, {"GET", "/%6cogin", "", "", nil, 200, ""},
		} {
			b := r.browser()
			q, err := http.NewRequestWithContext(t.Context(), c.method, r.base+c.path, strings.NewReader(c.body))
			r.Must(err)
			if c.kind != "" {
				q.Header.Set("Content-Type", c.kind)
			}
			for i := 0; i+1 < len(c.headers); i += 2 {
				q.Header.Set(c.headers[i], c.headers[i+1])
			}
			if host := q.Header.Get("Host"); host != "" {
				q.Host = host
			}
			got, err := b.Do(q)
			r.Must(err)
			text, err := io.ReadAll(got.Body)
			r.Must(err)
			r.Must(got.Body.Close())
			if got.StatusCode != c.code || c.to != "" && got.Header.Get("Location") != c.to || strings.Contains(string(text), "evil.example") || (len(got.Cookies()) > 0) != (c.code == 303) {
				t.Errorf("%.200s: %d to %q, %d cookies, %s", fmt.Sprintf("%+v", c), got.StatusCode, got.Header.Get("Location"), len(got.Cookies()), text)
			}
			r.pass(time.Minute) // for the address and the account
		}
	})
}

func TestAnAnswerOfTheProviderForAnotherOrWithoutEndIsRefused(t *testing.T) {
	eachProvider(t, func(t *testing.T, r *testRig, p *openid.Provider) {
		for name, c := range map[string]struct {
			spoil func(claims map[string]any)
			code  int
		}{
			"good":                  {nil, 303},
			"for several":           {func(c map[string]any) { c["aud"], c["azp"] = []string{"prescient", "other"}, "prescient" }, 303},
			"for several, of whom":  {func(c map[string]any) { c["aud"] = []string{"prescient", "other"} }, 403},
			"of another program":    {func(c map[string]any) { c["azp"] = "other" }, 403},
			"not verified, as text": {func(c map[string]any) { c["email_verified"] = "false" }, 403},
			"verified, as text":     {func(c map[string]any) { c["email_verified"] = "true" }, 303},
			"without an end":        {func(c map[string]any) { c["x"] = strings.Repeat("x", 2<<20) }, 502},
		} {
			p.Mu.Lock()
			p.Spoil = c.spoil
			p.Mu.Unlock()
			if got := r.browser().way(nil); got.Code != c.code {
				t.Errorf("%s: %d %s", name, got.Code, got.Body)
			}
			r.pass(time.Minute) // for the address
		}
	})
}

// An address that nobody has verified gives nobody a role.
func TestARoleByAnAddressIsForOneThatIsVerified(t *testing.T) {
	o := login.OIDC{NameClaim: "sub", RoleClaim: "email", Roles: map[string]ops.Role{"ada@example.org": ops.Admin}}
	for verified, want := range map[any]bool{true: true, "true": true, false: false, "false": false, nil: false, 1.0: false} {
		claims := map[string]any{"sub": "4711", "email": "ada@example.org", "email_verified": verified}
		if _, role, err := login.Claimed(o, claims); (role == ops.Admin) != want || (err == nil) != want {
			t.Errorf("%v: %s, %v", verified, role, err)
		}
	}
	if _, _, err := login.Claimed(o, map[string]any{"sub": "4711", "email": "ada@example.org"}); err == nil {
		t.Error("one of which nothing is said has a role")
	}
}

func TestSessionsLastAsLongAsIsSaid(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := newRig(t, served.New(t, d, 15*time.Minute), login.Options{Lifetime: time.Hour, Idle: 3 * time.Hour})
		r.add("ada", ops.Viewer)
		r.wants(r.browser().signIn("ada", password), 303)
		if n := r.Count("SELECT TIMESTAMPDIFF(SECOND, created_at, ends_at) FROM p_web_session"); n > 3600 || n < 3550 {
			t.Errorf("it lasts %d s", n)
		}
	})
}
