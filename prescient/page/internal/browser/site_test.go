package browser_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page"
	"prescient/prescient/page/login"
)

const password = "correct horse battery"

// cheap is what is kept of the password, at a cost that lets tests try it often.
var cheap = fmt.Sprintf("$argon2id$v=19$m=8,t=1,p=1$%s$%s", base64.RawStdEncoding.EncodeToString([]byte("the salt")),
	base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(password), []byte("the salt"), 1, 8, 1, 32)))

// people are those who may sign in, by role.
var people = map[ops.Role]string{ops.Viewer: "vera", ops.Operator: "otto", ops.Admin: "ada"}

// site is the page of an installation, as serve has it, on a port of its own. The clock of its database stands still.
type site struct {
	*served.Rig
	base     string // of the page, without a slash at its end
	now      time.Time
	mu       sync.Mutex
	refreshs map[string]int // how often parts of a path were asked for anew
}

// refreshed is how often parts of a path were asked for anew.
func (s *site) refreshed(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refreshs["/ops"+path]
}

// onOneServer is for one test on one server.
func onOneServer(t *testing.T, now time.Time) *site {
	t.Helper()
	t.Parallel()
	return serve(t, servertest.Kinds(t)[0].New(t), now)
}

func serve(t *testing.T, d servertest.Database, now time.Time) *site {
	t.Helper()
	return serveBy(t, d, now, login.OIDC{})
}

// serveBy is serve where people sign in by a provider, too.
func serveBy(t *testing.T, d servertest.Database, now time.Time, provider login.OIDC) *site {
	t.Helper()
	s := &site{Rig: served.New(t, d, 15*time.Minute), now: now, refreshs: make(map[string]int)}
	for role, name := range people {
		s.Exec("INSERT INTO p_web_user (name, role, password, created_at, changed_at) VALUES (?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", name, string(role), cheap)
	}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Prescient-Refresh") != "" {
			s.mu.Lock()
			s.refreshs[r.RequestURI]++
			s.mu.Unlock()
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.base = server.URL + "/ops"
	l, err := login.New(t.Context(), s.As("serve-door", time.Time{}), login.Options{Prefix: "p_", Dialect: s.Setting, BaseURL: s.base, Place: "shop, staging", Colour: "teal", OIDC: provider})
	s.Must(err)
	began := time.Now()
	pages, err := page.New(s.OpsAt(now), page.Options{BaseURL: s.base, Place: "shop, staging", Colour: "teal", Login: login.Path, Account: "/password", Logout: "/logout",
		Now: func() time.Time { return now.Add(time.Since(began)) },
		Who: func(r *http.Request) (page.User, error) {
			name, role, err := l.Who(r)
			if errors.Is(err, ops.ErrUnauthorized) {
				err = fmt.Errorf("%w: %w", page.ErrNobody, err)
			}
			return page.User{Name: name, Role: role}, err
		}})
	s.Must(err)
	handler = l.Handler(pages)
	return s
}

// tab opens one in which somebody of a role is signed in and has come to a path.
func (s *site) tab(c *chromium, role ops.Role, path string) *tab {
	s.T.Helper()
	b := c.tab(s.base)
	b.signIn(people[role], path)
	return b
}

// by is a caller with a role.
func by(role ops.Role, reason string) ops.Caller {
	c := served.By(role)
	c.Name, c.Reason = people[role], reason
	return c
}

var now = rig.At("13:40:10")
