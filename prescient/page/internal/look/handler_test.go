package look

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func site(t *testing.T, o Options) *Site {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// served is a handler that answers the path that it was asked for.
func served(t *testing.T, s *Site) http.Handler {
	t.Helper()
	h, err := s.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAPageIsThereWithItsPrefixAndWithout(t *testing.T) {
	h := served(t, site(t, Options{BaseURL: "https://h/p"}))
	for path, want := range map[string]string{"/p": "/", "/p/": "/", "/p/slots": "/slots", "/slots": "/slots", "/": "/", "/pp/x": "/pp/x", "/p/p/x": "/p/x"} {
		if w := ask(h, httptest.NewRequest("GET", path, nil)); w.Body.String() != want {
			t.Errorf("%s: %s; want %s", path, w.Body, want)
		}
	}
}

func TestAPathThatOthersReadOtherwiseIsNone(t *testing.T) {
	h := served(t, site(t, Options{BaseURL: "https://h/p"}))
	for _, path := range []string{"/p//evil.example/", "//evil.example/", "/p/../x", "/p/%2e%2e/%2e%2e/x", "/p/./x", "/p/..", "/p/x//"} {
		if w := ask(h, httptest.NewRequest("GET", "https://h"+path, nil)); w.Code != 404 || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d to %q", path, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	s := site(t, Options{})
	style, err := s.Asset("style.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", style, "/assets/0000/style.css"} {
		h := ask(served(t, s), httptest.NewRequest("GET", path, nil)).Header()
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" || h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s: %v", path, h)
		}
		if kept := strings.Contains(h.Get("Cache-Control"), "immutable"); kept != (path == style) || !kept && h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

func TestEveryAssetIsServedByItsHash(t *testing.T) {
	s := site(t, Options{BaseURL: "https://h/p"})
	h := served(t, s)
	for name, a := range s.assets {
		path, err := s.Asset(name)
		if err != nil {
			t.Fatal(err)
		}
		w := ask(h, httptest.NewRequest("GET", path, nil))
		if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), a.content) || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d, %v", path, w.Code, w.Header())
		}
	}
	if w := ask(h, httptest.NewRequest("GET", "/assets/0011223344556677/style.css", nil)); w.Code != 404 {
		t.Error(w.Code)
	}
	if _, err := s.Asset("none.css"); err == nil {
		t.Error("an asset that is none has a path")
	}
	if lines := bytes.Count(s.assets["page.js"].content, []byte("\n")); lines > 300 {
		t.Errorf("the script has %d lines; 300 are allowed", lines)
	}
	if lines := bytes.Count(s.assets["style.css"].content, []byte("\n")); lines > 500 {
		t.Errorf("the stylesheet has %d lines; 500 are allowed", lines)
	}
	for name, a := range s.assets {
		if bytes.Contains(a.content, []byte("://")) && name != "icon.svg" {
			t.Errorf("%s may load something from elsewhere", name)
		}
	}
}

func TestAChangeIsTakenFromOurOwnPagesAlone(t *testing.T) {
	h := served(t, site(t, Options{BaseURL: "https://ops.example.org/p"}))
	for _, test := range []struct {
		method, fetchSite, origin string
		code                      int
	}{
		{"POST", "same-origin", "", 200}, {"POST", "cross-site", "", 403}, {"POST", "same-site", "", 403}, {"POST", "", "https://evil.example", 403},
		{"POST", "", "https://ops.example.org", 200}, {"POST", "cross-site", "https://ops.example.org", 200}, {"POST", "", "", 200}, {"POST", "", "null", 403}, {"GET", "cross-site", "https://evil.example", 200},
	} {
		r := httptest.NewRequest(test.method, "http://inside:8080/checks/cancel", nil)
		if test.fetchSite != "" {
			r.Header.Set("Sec-Fetch-Site", test.fetchSite)
		}
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		if w := ask(h, r); w.Code != test.code || w.Code == 403 && !strings.Contains(w.Body.String(), "another site") {
			t.Errorf("%+v: %d %s", test, w.Code, w.Body)
		}
	}
}

func TestWhatWentWrongIsSaidAndLookedAtAgain(t *testing.T) {
	s := site(t, Options{Place: `<script>"x"`, Colour: "red", Nav: []Link{{Path: "/slots", Title: "Slots"}, {Path: "/tokens", Title: "Tokens", Roles: []string{"admin"}}}, Account: "/account", Logout: "/logout"})
	now := time.Date(2026, 11, 20, 13, 15, 0, 0, time.UTC)
	w := httptest.NewRecorder()
	s.Wrong(w, httptest.NewRequest("GET", "/", nil), Trouble{Status: 503, Title: "The database is away", Text: "It <b>does</b> not answer.", Do: "Wait.", Since: now.Add(-time.Minute), Now: now,
		Again: 5 * time.Second, User: "ada\u202e<b>", Role: "viewer"})
	for _, want := range []string{"<h1><bdi>The database is away</bdi></h1>", "It &lt;b&gt;does", "2026-11-20 13:14:00 UTC", "1 min ago", "every 5 s", "&lt;script&gt;", `class="of-red"`, "U+202E", `href="/slots"`, `action="/logout"`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%q is missing in %s", want, w.Body)
		}
	}
	if strings.Contains(w.Body.String(), "<script>\"x") || strings.Contains(w.Body.String(), "/tokens") || w.Code != 503 || w.Header().Get("Refresh") != "5" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
