package page_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/page"
)

// request sends a request of any kind by an operator; headers are names and values in turn.
func (r *testRig) request(method, address, body string, headers ...string) reply {
	r.T.Helper()
	req := httptest.NewRequestWithContext(r.T.Context(), method, address, strings.NewReader(body))
	req.Header.Set("User", "operator")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return send(r.handler, req)
}

// What a role may not do it is not asked about either, by whatever method.
func TestEachViewAndDeedIsForItsRole(t *testing.T) {
	h := handler(t, nil, page.Options{Users: true})
	seen := 0
	for _, one := range page.All() {
		methods := []string{http.MethodGet, http.MethodHead}
		if one.Deed {
			methods = append(methods, http.MethodPost)
		}
		for _, method := range methods {
			for _, user := range []string{"", "viewer", "operator"} {
				want := http.StatusForbidden
				switch {
				case user == "":
					want = http.StatusUnauthorized
				case ops.Role(user).May(one.Role):
					continue
				}
				seen++
				req := httptest.NewRequest(method, "/p"+one.Path+"?name=ada&entity=order/42&job_exec=ship&id=a&number=1", strings.NewReader(""))
				req.Header.Set("User", user)
				if got := send(h, req); got.Code != want {
					t.Errorf("%s %s by %q: %d; want %d", method, one.Path, user, got.Code, want)
				}
			}
		}
		// There is no deed that a GET does, nor a view to which one sends something.
		if !one.Deed {
			req := httptest.NewRequest(http.MethodPost, "/p"+one.Path, strings.NewReader(""))
			req.Header.Set("User", "admin")
			if got := send(h, req); got.Code != http.StatusNotFound {
				t.Errorf("POST %s: %d", one.Path, got.Code)
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d requests were sent", seen)
	}
}

func TestRequestsThatAreNotWhatTheySeemDoNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		o := r.OpsAt(rig.At("10:00"))
		_, err := ops.InsertChecks.Do(t.Context(), o, served.By(ops.Operator), ops.Inserting{Checks: []ops.NewCheck{served.Check("42", "ship", rig.At("13:01"))}})
		r.Must(err)
		const cancel = "/p/checks/cancel?entity=order%2F42&job_exec=ship"
		for _, c := range []struct {
			method, address, body string
			headers               []string
			code                  int
			to                    string
		}{
			{"POST", cancel, "", []string{"Origin", "https://evil.example"}, 403, ""}, {"POST", cancel, "", []string{"Origin", "null"}, 403, ""},
			{"POST", cancel, "", []string{"Sec-Fetch-Site", "cross-site"}, 403, ""}, {"POST", cancel, "", []string{"Sec-Fetch-Site", "same-site"}, 403, ""},
			{"POST", cancel, "", []string{"Origin", "https://ops.example.org.evil.example"}, 403, ""}, {"POST", cancel, "", []string{"Origin", "http://ops.example.org"}, 403, ""},
			{"POST", cancel, strings.Repeat("x", 3<<20), nil, 400, ""}, {"POST", cancel, strings.Repeat("a&", 1_000_000), nil, 400, ""}, {"POST", cancel, "a=%zz", nil, 400, ""},
			{"POST", "/p/checks/cancel?entity=order%2F43&job_exec=ship", "entity=order%2F42", nil, 303, "/p/find?_count=0&_did=%2Fchecks%2Fcancel&entity=order%2F43"}, // the address counts
			{"POST", cancel + "&tag=%zz", "", nil, 400, ""}, {"GET", cancel + "&tag=%zz", "", nil, 400, ""}, {"GET", "/p/ends?outcome=failed;reason=x", "", nil, 400, ""},
			{"GET", cancel + "&_step=seen&_key=x&_reason=y", "", nil, 200, ""}, {"HEAD", cancel, "", nil, 200, ""}, {"PUT", cancel, "", nil, 404, ""}, {"DELETE", cancel, "", nil, 404, ""},
			{"GET", "/p/%2e%2e/%2e%2e/etc/passwd", "", nil, 404, ""}, {"GET", "/p//evil.example/", "", nil, 404, ""}, {"GET", "/p/%00", "", nil, 404, ""}, {"GET", "/p/p/p/slots", "", nil, 404, ""},
			{"GET", "/p/assets/%2e%2e/%2e%2e/style.css", "", nil, 404, ""}, {"GET", "/p/assets/", "", nil, 404, ""}, {"HEAD", "/p/ends/export", "", nil, 405, ""},
			{"GET", "/p/find?entity=order%2F42", "", []string{"X-Forwarded-Host", "evil.example", "X-Forwarded-Prefix", "/evil.example", "X-Forwarded-Proto", "http"}, 200, ""},
		} {
			got := r.request(c.method, c.address, c.body, c.headers...)
			if got.Code != c.code || c.to != "" && got.Header.Get("Location") != c.to || strings.Contains(got.Body, "evil.example") {
				t.Errorf("%.200s: %d to %q: %.300s", fmt.Sprintf("%+v", c), got.Code, got.Header.Get("Location"), got.Body)
			}
			if csp := got.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || got.Header.Get("X-Frame-Options") != "DENY" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: %v", c.method, c.address, got.Header)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != 1 {
			t.Errorf("%d checks are pending", n)
		}
		if _, form := r.look(ops.Operator, "/checks/cancel", "entity", "order/42", "job_exec", "ship", "_key", "of-another").form(t); form["_key"] == "of-another" || len(form["_key"]) < 20 {
			t.Errorf("%v", form)
		}
	})
}

// Whatever a value is, the answer is a page, and no failure.
func TestNoValueOfAnAddressMakesAViewFail(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		values := append([]string{"\xff\xfe", "\x00", "a\x00b", "0000-01-01", "0001-01-01", "9999-12-31T23:59:59-14:00", "9999-12-31", "1000-01-01", "18446744073709551615", "18446744073709551616", "9223372036854775807", "-1", "1e9",
			strings.Repeat("a", 20_000), "' OR 1=1 -- ", `%_\`, "order/\xff", "order/" + strings.Repeat("\U0001f600", 500), "0 0 30 2 *", "AAAA", "\u202e"}, hostile...)
		names := []string{"after", "after_session", "at", "before", "chosen", "crontabs", "entity", "from", "id", "ignore", "job_exec", "kind", "name", "number", "only", "outcome", "person", "reason", "run", "search", "show", "slot", "state", "tag", "topic", "verb", "version", "zone"}
		for _, one := range page.All() {
			if one.Deed || one.Role == ops.Admin { // these wait for locks, or read what is the server's
				continue
			}
			for i, value := range values { // all names at once, and by turns one alone
				query := make(url.Values)
				for _, name := range names {
					query.Set(name, value)
				}
				for _, q := range []url.Values{query, {names[i%len(names)]: {value}}} {
					got := r.request(http.MethodGet, "/p"+one.Path+"?"+q.Encode(), "")
					if got.Code >= 500 || got.Code == 0 {
						t.Errorf("%s?%.100s: %d", one.Path, q.Encode(), got.Code)
					}
					if strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
						got.harmless(t)
					}
				}
			}
		}
		for _, q := range []string{"from=9999-12-31T23:59:59-14:00", "before=0000-01-01", "from=1000-01-01&before=9999-12-31"} {
			if got := r.request(http.MethodGet, "/p/ends?"+q, ""); got.Code >= 500 {
				t.Errorf("%s: %d", q, got.Code)
			}
		}
	})
}

func TestAUserSendsAsMuchAsOneMay(t *testing.T) {
	looked := 0
	h, err := page.New(nil, page.Options{Rate: 5, Who: func(r *http.Request) (page.User, error) {
		looked++
		if r.Header.Get("User") == "many" {
			return page.User{}, fmt.Errorf("%w: from there", page.ErrTooMany)
		}
		return page.User{Name: r.Header.Get("User"), Role: ops.Viewer}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(user string) reply {
		req := httptest.NewRequest(http.MethodGet, "/none", nil)
		req.Header.Set("User", user)
		return send(h, req)
	}
	refused := 0
	for range 30 {
		if got := ask("ada"); got.Code == http.StatusTooManyRequests {
			refused++
			if got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, "Too many requests") {
				t.Fatalf("%+v", got)
			}
		}
	}
	if refused < 10 || refused > 20 || ask("grace").Code != http.StatusNotFound || ask("many").Code != http.StatusTooManyRequests {
		t.Errorf("%d are refused", refused)
	}
	if errors.Is(page.ErrTooMany, page.ErrNobody) || looked != 32 {
		t.Errorf("%d were looked at", looked)
	}
}
