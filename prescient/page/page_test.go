package page_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/ops"
	"prescient/prescient/page"
)

func TestAPageThatCannotBeServedIsNotMade(t *testing.T) {
	for name, o := range map[string]page.Options{"nobody says who": {}, "a base that is a view": {BaseURL: "https://h/slots", Who: who}, "a colour that is none": {Colour: "mauve", Who: who}} {
		if _, err := page.New(nil, o); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhoIsNotKnownSeesNothing(t *testing.T) {
	for login, want := range map[string]struct {
		code int
		to   string
	}{"": {401, ""}, "/login": {303, "/p/login?next=%2Fp%2Fslots%3Fday%3D2026-11-20%26x%3D%252F%252Fevil.example"}} {
		h := handler(t, nil, page.Options{Login: login})
		got := send(h, httptest.NewRequest(http.MethodGet, "/p/slots?day=2026-11-20&x=%2F%2Fevil.example", nil))
		if got.Code != want.code || got.Header.Get("Location") != want.to || strings.Contains(got.Body, "<nav") {
			t.Errorf("%+v", got)
		}
		refreshing := httptest.NewRequest(http.MethodGet, "/p/slots", nil)
		refreshing.Header.Set("Prescient-Refresh", "1")
		if got := send(h, refreshing); got.Code != 401 {
			t.Errorf("%+v", got)
		}
		if got := send(h, httptest.NewRequest(http.MethodPost, "/p/checks/cancel", strings.NewReader("entity=order%2F42"))); got.Code != 401 {
			t.Errorf("%+v", got)
		}
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	h := handler(t, nil, page.Options{})
	req := httptest.NewRequest(http.MethodGet, "/p/none", nil)
	req.Header.Set("User", "viewer")
	got := send(h, req)
	checkPage(t, "/none", got.Body)
	got.wants(t, 404, "There is no such page", "shop &lt;test&gt;", `class="of-teal"`)
}

// A role that is none, as of an Options.Who that forgot one, may do nothing.
func TestARoleThatIsNoneSeesNothing(t *testing.T) {
	h, err := page.New(nil, page.Options{Who: func(*http.Request) (page.User, error) { return page.User{Name: "ada"}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if got := send(h, httptest.NewRequest(http.MethodGet, "/", nil)); got.Code != 403 {
		t.Errorf("%+v", got)
	}
}

// asker asks for views of a page whose clock stands still until it is moved.
type asker struct {
	t       *testing.T
	handler http.Handler
	now     time.Time
}

func newAsker(t *testing.T, o *ops.Ops) *asker {
	t.Helper()
	a := &asker{t: t, now: rig.At("10:00")}
	a.handler = handler(t, o, page.Options{Now: func() time.Time { return a.now }})
	return a
}

func (a *asker) ask(role ops.Role, path string) reply {
	req := httptest.NewRequest(http.MethodGet, path, nil)
	req.Header.Set("User", string(role))
	return send(a.handler, req)
}

func TestADatabaseThatIsAwayIsSaidAndIsLookedForAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		h := &rig.Hooks{}
		a := newAsker(t, r.HookedOps(rig.At("10:00"), h))
		a.ask(ops.Viewer, "/p/").wants(t, 200)
		h.OnStatement(func(string) error { return rig.ErrConnection })
		a.ask(ops.Viewer, "/p/").wants(t, 200) // made a moment ago
		a.now = a.now.Add(3 * time.Second)
		got := a.ask(ops.Viewer, "/p/").wants(t, 503, "The database is away", "2026-11-20 10:00:03 UTC")
		if got.Header.Get("Refresh") != "5" {
			t.Errorf("%v", got.Header)
		}
		checkPage(t, "away", got.Body)
		a.now = a.now.Add(90 * time.Second)
		a.ask(ops.Operator, "/p/").wants(t, 503, "10:00:03", "1 min 30 s ago")
		h.OnStatement(nil)
		a.now = a.now.Add(3 * time.Second)
		a.ask(ops.Viewer, "/p/").wants(t, 200)
		h.OnStatement(func(string) error { return rig.ErrConnection })
		a.now = a.now.Add(3 * time.Second)
		a.ask(ops.Viewer, "/p/").wants(t, 503, "10:01:39")
	})
}

// Who somebody is stands in the database, too, where people sign in.
func TestADatabaseThatCannotSayWhoLooksIsAway(t *testing.T) {
	h, err := page.New(nil, page.Options{Now: func() time.Time { return rig.At("10:00") }, Who: func(*http.Request) (page.User, error) { return page.User{}, rig.ErrConnection }})
	if err != nil {
		t.Fatal(err)
	}
	send(h, httptest.NewRequest(http.MethodGet, "/", nil)).wants(t, 503, "The database is away", "Since <time", "2026-11-20 10:00:00 UTC")
}

// count is how many statements went by a hook.
func count(h *rig.Hooks) int {
	h.Mu.Lock()
	defer h.Mu.Unlock()
	return len(h.Log)
}

func TestTheSameForTheSameRoleIsAskedOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		h := &rig.Hooks{}
		a := newAsker(t, r.HookedOps(rig.At("10:00"), h))
		sent := func(ask func()) int {
			before := count(h)
			ask()
			return count(h) - before
		}
		a.ask(ops.Viewer, "/p/").wants(t, 200) // what is read once in a connection
		a.now = a.now.Add(3 * time.Second)
		one := sent(func() { a.ask(ops.Viewer, "/p/").wants(t, 200) })
		if none := sent(func() { a.ask(ops.Viewer, "/") }); one == 0 || none != 0 {
			t.Errorf("%d statements, then %d", one, none)
		}
		a.now = a.now.Add(3 * time.Second)
		var all sync.WaitGroup
		many := sent(func() {
			for range 20 {
				all.Go(func() { a.ask(ops.Viewer, "/p/").wants(t, 200) })
			}
			all.Wait()
		})
		if many != one {
			t.Errorf("20 who look send %d statements, and one sends %d", many, one)
		}
		if other := sent(func() { a.ask(ops.Operator, "/p/").wants(t, 200, "operator") }); other == 0 {
			t.Error("another role was shown what viewers are")
		}
	})
}
